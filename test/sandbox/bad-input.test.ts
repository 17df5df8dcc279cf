import { connect as connectSocket } from "node:net";

import { describe, expect, it } from "vitest";

import type { Sandbox } from "../../src/sandbox.ts";
import { at, call, connect, contractBody, createContract, startSandbox } from "./support.ts";
import type { Answered, Api } from "./support.ts";

/** Bad input gets an envelope that says what is wrong, and the sandbox goes on serving. */
const json = { "Content-Type": "application/json" };

interface Case {
  what: string;
  status: number;
  says: string;
  run: (api: Api, sandbox: Sandbox) => Promise<Answered>;
}

const post =
  (body: string | Uint8Array, headers: Record<string, string> = json) =>
  (api: Api) =>
    api.send("POST", "/apps/api/contracts", { body: Buffer.from(body), headers });

const cases: Case[] = [
  { what: "JSON cut short", status: 400, says: "not JSON", run: post('{"title": "x"') },
  { what: "no body", status: 400, says: "not JSON", run: post("") },
  {
    what: "bytes that are no text",
    status: 400,
    says: "not JSON",
    run: post(new Uint8Array([0xff, 0xfe, 0])),
  },
  { what: "JSON that is a list", status: 400, says: "must be a JSON object", run: post("[]") },
  { what: "JSON that is null", status: 400, says: "must be a JSON object", run: post("null") },
  {
    what: "JSON nested 100,000 deep",
    status: 400,
    says: "title is required",
    run: post(`{"x":${"[".repeat(1e5)}${"]".repeat(1e5)}}`),
  },
  {
    what: "numbers beyond a double",
    status: 400,
    says: "amount",
    run: post(JSON.stringify(contractBody()).replace("1000", "1e400")),
  },
  {
    what: "an amount beyond the sandbox's bound",
    status: 400,
    says: "at most 10000000000",
    run: (api) => api.post("/apps/api/contracts", contractBody({ amount: 1e11 })),
  },
  {
    what: "a thousand and one milestones",
    status: 400,
    says: "at most 1000",
    run: (api) =>
      api.post(
        "/apps/api/contracts",
        contractBody({ Milestones: Array.from({ length: 1_001 }, () => ({})) }),
      ),
  },
  {
    what: "__proto__ as a field",
    status: 400,
    says: "title is required",
    run: post('{"__proto__":{"title":"x"}}'),
  },
  {
    what: "another Content-Type",
    status: 415,
    says: "application/json",
    run: post("{}", { "Content-Type": "text/plain" }),
  },
  {
    what: "a body of 2 MB",
    status: 413,
    says: "larger than 1048576 bytes",
    run: post(`{"title":"${"x".repeat(2_000_000)}"}`),
  },
  {
    what: "a path that is not there",
    status: 404,
    says: "no GET /apps/api/nothing",
    run: (api) => api.get("/apps/api/nothing"),
  },
  {
    what: "a method that is not there",
    status: 405,
    says: "takes POST",
    run: (api) => api.send("PUT", "/apps/api/contracts"),
  },
  {
    what: "a broken escape in the path",
    status: 400,
    says: "not a valid URL",
    run: (api) => api.get("/apps/api/contracts/%E0%A4%A"),
  },
  {
    what: "an id with a slash in it",
    status: 404,
    says: "no GET",
    run: (api) => api.get("/apps/api/contracts/..%2f..%2fetc"),
  },
  {
    what: "an unknown contract",
    status: 404,
    says: "no contract",
    run: (api) => api.get("/apps/api/contracts/CNT-2601-00000001"),
  },
  {
    what: "an unknown page",
    status: 404,
    says: "/apps/api",
    run: (_api, { baseUrl }) => call(`${baseUrl}/nothing`),
  },
  {
    what: "control: an unknown path",
    status: 404,
    says: "README",
    run: (_api, { controlUrl }) => call(`${controlUrl}nothing`),
  },
  {
    what: "control: an unknown action",
    status: 404,
    says: "Actions: approve",
    run: async (api, { controlUrl }) =>
      call(`${controlUrl}contracts/${await createContract(api)}/explode`, { method: "POST" }),
  },
  {
    what: "control: a milestone id of text",
    status: 400,
    says: "milestoneId",
    run: async (api, { controlUrl }) =>
      call(`${controlUrl}contracts/${await createContract(api)}/pay`, {
        method: "POST",
        headers: json,
        body: '{"milestoneId":"x"}',
      }),
  },
  {
    what: "control: an unknown refund",
    status: 404,
    says: "no refund 1",
    run: (_api, { controlUrl }) => call(`${controlUrl}refunds/1/settle`, { method: "POST" }),
  },
  {
    what: "control: an unknown webhook",
    status: 404,
    says: "no webhook",
    run: (_api, { controlUrl }) => call(`${controlUrl}deliveries/x/resend`, { method: "POST" }),
  },
  {
    what: "control: an unknown fault",
    status: 400,
    says: "no fault boom",
    run: (_api, { controlUrl }) =>
      call(`${controlUrl}faults`, { method: "POST", headers: json, body: '{"boom":1}' }),
  },
  {
    what: "control: a share above one",
    status: 400,
    says: "probability",
    run: (_api, { controlUrl }) =>
      call(`${controlUrl}faults`, { method: "POST", headers: json, body: '{"drop":2}' }),
  },
  {
    what: "control: time back",
    status: 400,
    says: "ms must be",
    run: (_api, { controlUrl }) =>
      call(`${controlUrl}clock/advance`, { method: "POST", headers: json, body: '{"ms":-1}' }),
  },
  {
    what: "control: a user's flag of text",
    status: 404,
    says: "platformRefId",
    run: (_api, { controlUrl }) =>
      call(`${controlUrl}users/x`, { method: "POST", headers: json, body: '{"known":"no"}' }),
  },
  {
    what: "control: another site's page",
    status: 403,
    says: "Another site",
    run: (_api, { controlUrl }) =>
      call(`${controlUrl}tokens/revoke`, { method: "POST", headers: { Origin: "https://evil.example" } }),
  },
];

describe("bad input", () => {
  it.each(cases)("$what: $status", async ({ status, says, run }) => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const answer = await run(api, sandbox);
    expect([answer.status, at(answer.body, "status"), at(answer.body, "succeeded")]).toEqual([
      status,
      status,
      false,
    ]);
    expect(answer.text).toContain(says);
    expect((await api.post("/apps/api/contracts", contractBody())).status).toBe(200);
  });

  it("that is no HTTP gets a 400, and the next is served", async () => {
    const sandbox = await startSandbox();
    expect(await talk(sandbox, "HELLO\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*not an HTTP/s);
    expect((await call(sandbox.controlUrl)).status).toBe(200);
  });

  it("of 30 MB is answered 413 and not read to its end", async () => {
    const sandbox = await startSandbox();
    const head = `POST /apps/api/contracts HTTP/1.1\r\nHost: x\r\nContent-Length: ${30 * 1_048_576}\r\n\r\n`;
    expect(await talk(sandbox, head + "x".repeat(17 * 1_048_576))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("that is never finished does not hold up others, nor close()", async () => {
    const sandbox = await startSandbox();
    const socket = connectSocket(sandbox.address.port, sandbox.address.host);
    socket.on("error", () => undefined);
    socket.write("POST /apps/api/contracts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    expect((await call(sandbox.controlUrl)).status).toBe(200);
    await sandbox.close();
    socket.destroy();
  });

  it("in titles and names is escaped on both pages", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const evil = '"><script>alert(1)</script>';
    const made = await api.post("/apps/api/contracts", contractBody({ title: evil, reference: evil }));
    for (const url of [sandbox.controlUrl, String(at(made.body, "data.checkoutUrl"))]) {
      const { text } = await call(url);
      expect(text).not.toContain("<script>alert");
      expect(text).toContain("&lt;script&gt;alert(1)");
    }
  });
});

function talk(sandbox: Sandbox, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectSocket(sandbox.address.port, sandbox.address.host);
    let heard = "";
    socket.on("data", (chunk) => (heard += chunk.toString()));
    socket.on("error", () => resolve(heard));
    socket.on("close", () => resolve(heard));
    socket.write(bytes);
  });
}
