/** The shape that Next.js 15 and 16 demand of a route file: what `next build` writes and compiles beside each of them. */
import { expect, expectTypeOf, it } from "vitest";
import { fetchWebhook, type FetchHandler } from "../../adapters/fetch.ts";
import { openMirror } from "../support/mirror.ts";

/** Next's own request, of which it knows more. */
interface NextRequest extends Request {
  readonly nextUrl: URL;
}
/** Next 15: the parameter has to be one of these, not something wider; Next 16: the handler has to take one. */
type ParameterOf15 = NextRequest | Request;
type HandlerOf16 = (request: NextRequest, context: { params: Promise<object> }) => Promise<Response | void>;

it("a handler takes a Request, exactly, and gives a Response", () => {
  expectTypeOf<Parameters<FetchHandler>>().toEqualTypeOf<[request: Request]>();
  expectTypeOf<Parameters<FetchHandler>[0]>().toExtend<ParameterOf15>();
  expectTypeOf<FetchHandler>().toExtend<HandlerOf16>();
});

it("a route that is only imported opens no mirror", async () => {
  let opened = 0;
  const handler = fetchWebhook(() => {
    opened += 1;
    return openMirror();
  });
  expect(opened).toBe(0);
  expect((await handler(new Request("http://localhost/", { method: "POST" }))).status).toBe(401);
  expect(opened).toBe(1);
});
