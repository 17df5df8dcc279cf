import { ok } from "../../shared/result.ts";
import { sleep } from "../../shared/timers.ts";
import { accepted, refuse, refused } from "../wire/answer.ts";
import type { Answer, Outcome } from "../wire/answer.ts";
import { checkoutUrl, createContract, findContract, renewCheckout } from "../service/contracts.ts";
import { refusal } from "./http-server.ts";
import type { Call } from "./http-server.ts";
import { writeJson } from "../wire/json.ts";
import type { Json } from "../wire/json.ts";
import { requestRefund } from "../service/refunds.ts";
import {
  deleteSubscription,
  findSubscription,
  putSubscription,
  readLogs,
  regenerateSecret,
  sendTest,
} from "../service/subscriptions.ts";
import { authenticate, issueToken } from "../service/tokens.ts";
import { getOnboarding, postUser } from "../service/users.ts";
import { createdContract, createdRefund, readContract, readSubscription } from "../service/views.ts";
import type { World } from "../world/world.ts";

type Made = Outcome<{ data: Json; message: string }>;

interface ApiCall {
  world: World;
  call: Call;
  business: string;
  /** The path's one parameter, or "". */
  id: string;
}

interface Route {
  method: string;
  /** `*` stands for one path segment. */
  path: string;
  run: (api: ApiCall) => Made | Promise<Made>;
}

/** §4 and the supplement, row by row. */
const routes: readonly Route[] = [
  { method: "POST", path: "/apps/api/contracts", run: postContract },
  { method: "POST", path: "/apps/api/contracts/checkout", run: postCheckout },
  { method: "GET", path: "/apps/api/contracts/*", run: getContract },
  { method: "POST", path: "/apps/api/contracts/*/refund", run: postRefund },
  { method: "POST", path: "/apps/api/webhooks", run: postWebhook },
  { method: "GET", path: "/apps/api/webhooks", run: getWebhook },
  { method: "DELETE", path: "/apps/api/webhooks", run: deleteWebhook },
  { method: "POST", path: "/apps/api/webhooks/regenerate-secret", run: postSecret },
  { method: "POST", path: "/apps/api/webhooks/test", run: postTest },
  { method: "GET", path: "/apps/api/webhooks/logs", run: getLogs },
  { method: "POST", path: "/apps/api/user", run: postUserRoute },
  { method: "GET", path: "/apps/api/user/onboarding", run: getOnboardingRoute },
];

const exact = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

/** Answers everything under `/apps/api` and the token endpoint. */
export async function answerApi(world: World, call: Call): Promise<Answer | "cut"> {
  const fault = world.faults.forRequest(call.method);
  if (fault?.kind === "error") return failedRequest(fault.status);
  const answer = call.path === "/connect/token" ? answerToken(world, call) : await answerRoute(world, call);
  world.state.commit();
  if (fault?.kind === "cut") return "cut";
  // The answer is made: what it says may be old when it arrives.
  if (fault?.kind === "slow") await sleep(fault.ms);
  return answer;
}

function answerToken(world: World, call: Call): Answer {
  if (call.method !== "POST") return wrongMethod(call, ["POST"]);
  if (!contentTypeOf(call).startsWith("application/x-www-form-urlencoded")) {
    return refusal({
      status: 400,
      message: "ValidationFailed",
      detail: "The token request must be form-encoded: Content-Type: application/x-www-form-urlencoded.",
    });
  }
  const issued = issueToken(world, new URLSearchParams(call.body.toString("utf8")));
  return issued.ok ? { status: 200, body: writeJson(issued.value) } : refusal(issued.error);
}

async function answerRoute(world: World, call: Call): Promise<Answer> {
  const found = findRoute(call);
  if (found === undefined) return unknownPath(call);
  const { route, id } = found;
  const open = route.run === getContract && !world.settings.getRequiresToken;
  const caller = open ? ok("") : authenticate(world, call.headers.authorization);
  if (!caller.ok) return refusal(caller.error, { "WWW-Authenticate": "Bearer" });
  const made = await route.run({ world, call, business: caller.value, id });
  if (!made.ok) return { status: made.error.status, body: writeJson(refused(made.error)) };
  return {
    status: 200,
    body: writeJson(accepted(made.value.data, made.value.message), world.settings.amountStyle),
  };
}

function findRoute(call: Call): { route: Route; id: string } | undefined {
  const direct = exact.get(`${call.method} ${call.path}`);
  if (direct !== undefined) return { route: direct, id: "" };
  const [, id, rest] = /^\/apps\/api\/contracts\/([^/]+)(\/refund)?$/.exec(call.path) ?? [];
  const route = id === undefined ? undefined : exact.get(`${call.method} /apps/api/contracts/*${rest ?? ""}`);
  return route === undefined ? undefined : { route, id: id ?? "" };
}

/** 405 where another method would do, else 404. */
function unknownPath(call: Call): Answer {
  const methods = ["GET", "POST", "DELETE"].filter((method) => findRoute({ ...call, method }) !== undefined);
  if (methods.length > 0) return wrongMethod(call, methods);
  return refusal({
    status: 404,
    message: "NotFound",
    detail: `The service has no ${call.method} ${call.path}.`,
  });
}

export function wrongMethod(call: Call, methods: readonly string[]): Answer {
  const detail = `${call.path} takes ${methods.join(", ")}, not ${call.method}.`;
  return refusal({ status: 405, message: "MethodNotAllowed", detail }, { Allow: methods.join(", ") });
}

export function contentTypeOf(call: Call): string {
  return (call.headers["content-type"] ?? "").toLowerCase();
}

/** A JSON body, or the reason why it is none. */
export function readJson(call: Call): Outcome<unknown> {
  if (!/^application\/([\w.+-]+\+)?json\b/.test(contentTypeOf(call))) {
    const seen = contentTypeOf(call) || "missing";
    return refuse(415, "UnsupportedMediaType", `The Content-Type must be application/json; it is ${seen}.`);
  }
  try {
    return ok(JSON.parse(call.body.toString("utf8").replace(/^\uFEFF/, "")));
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    const message = `The request body is not JSON: ${seen}.`;
    return {
      ok: false,
      error: {
        status: 400,
        message: "InvalidJson",
        detail: message,
        validationErrors: [{ field: "body", message }],
      },
    };
  }
}

function failedRequest(status: 429 | 500 | 502 | 503): Answer {
  if (status === 502) {
    return { status, contentType: "text/html", body: "<html><body><h1>502 Bad Gateway</h1></body></html>" };
  }
  const headers: Record<string, string> = status === 500 ? {} : { "Retry-After": "1" };
  return refusal(
    { status, message: "SandboxFault", detail: "The sandbox's fault apiErrors. Nothing was done." },
    headers,
  );
}

function mapped<T>(outcome: Outcome<T>, message: string, toData: (value: T) => Json): Made {
  return outcome.ok ? ok({ data: toData(outcome.value), message }) : outcome;
}

const asIs = (data: Json): Json => data;

function postContract({ world, call, business }: ApiCall): Made {
  const body = readJson(call);
  if (!body.ok) return body;
  const made = createContract(world, business, body.value);
  return mapped(made, "Contract created successfully.", (contract) => createdContract(world, contract));
}

function postCheckout({ world, call, business }: ApiCall): Made {
  const body = readJson(call);
  if (!body.ok) return body;
  const made = renewCheckout(world, business, body.value);
  return mapped(made, "ContractCheckoutStartedSuccessfully", (contract) => ({
    checkoutUrl: checkoutUrl(world, contract),
  }));
}

function getContract({ world, business, id }: ApiCall): Made {
  const found = findContract(world, id, business === "" ? undefined : business);
  return mapped(found, "ContractRetrievedSuccessfully", (contract) => readContract(world, contract));
}

async function postRefund({ world, call, business, id }: ApiCall): Promise<Made> {
  const body = readJson(call);
  if (!body.ok) return body;
  const made = await requestRefund(world, business, id, body.value);
  const partial = made.ok && made.value.kind === "partial";
  const message = partial ? "PartialRefundCreatedSuccessfully" : "RefundCreatedSuccessfully";
  return mapped(made, message, createdRefund);
}

function postWebhook({ world, call, business }: ApiCall): Made {
  const body = readJson(call);
  if (!body.ok) return body;
  const made = putSubscription(world, business, body.value);
  const message =
    made.ok && made.value.created ? "Webhook created successfully." : "Webhook updated successfully.";
  return mapped(made, message, ({ subscription }) => readSubscription(subscription));
}

function getWebhook({ world, business }: ApiCall): Made {
  return mapped(findSubscription(world, business), "", readSubscription);
}

function deleteWebhook({ world, business }: ApiCall): Made {
  return mapped(deleteSubscription(world, business), "Webhook deleted successfully.", asIs);
}

function postSecret({ world, business }: ApiCall): Made {
  return mapped(regenerateSecret(world, business), "Webhook secret regenerated successfully.", asIs);
}

function postTest({ world, business }: ApiCall): Made {
  return mapped(sendTest(world, business), "Test webhook sent.", asIs);
}

function getLogs({ world, call, business }: ApiCall): Made {
  return mapped(readLogs(world, business, call.query), "", asIs);
}

function postUserRoute({ world, call }: ApiCall): Made {
  const body = readJson(call);
  if (!body.ok) return body;
  return mapped(postUser(world, body.value), "User created successfully.", asIs);
}

function getOnboardingRoute({ world, call }: ApiCall): Made {
  return mapped(getOnboarding(world, call.query), "UserRetrievedSuccessfully", asIs);
}
