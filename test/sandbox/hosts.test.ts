import { request } from "node:http";

import { describe, expect, it } from "vitest";

import type { Sandbox, SandboxOptions } from "../../src/sandbox.ts";
import { at, connect, contractBody, parse, startSandbox } from "./support.ts";
import type { Api } from "./support.ts";

/** What the sandbox answers under which `Host`, and what its links begin with. */
interface Answer {
  status: number;
  body: unknown;
  text: string;
}

/** Unlike `fetch`, Node's own client sends the `Host` that it is given. */
function ask(
  { address }: Sandbox,
  host: string,
  { method = "GET", path = "/_sandbox/version", headers = {}, body = "" } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: address.host, port: address.port, method, path, headers: { ...headers, Host: host } },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, body: parse(text) }));
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

const foreign = [
  "evil.example",
  "evil.example:4010",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "evil-localhost",
  "169.254.169.254",
  "10.0.0.7:4010",
  "[2001:db8::1]:4010",
  "0.0.0.0",
  "localhost@evil.example",
  "evil.example#localhost",
  "localhost:x",
];
const own = [
  "localhost",
  "LOCALHOST:80",
  "localhost.:4010",
  "shop.localhost:4010",
  "127.0.0.1",
  "127.8.9.10:1",
  "[::1]:4010",
];

describe("a foreign Host", () => {
  it.each(foreign)("%j is refused on every face of the sandbox, and nothing is done", async (host) => {
    const sandbox = await startSandbox();
    const { contractId, checkoutUrl } = await sandbox.createContract();
    const { token } = await connect(sandbox);
    const bearer = { Authorization: `Bearer ${token}` };
    const checkout = new URL(checkoutUrl ?? "");
    const answers = [
      await ask(sandbox, host, { path: "/_sandbox/" }),
      await ask(sandbox, host, { path: `/_sandbox/contracts/${contractId}/pay`, method: "POST" }),
      await ask(sandbox, host, { path: `/apps/api/contracts/${contractId}`, headers: bearer }),
      await ask(sandbox, host, { path: "/connect/token", method: "POST" }),
      await ask(sandbox, host, { path: `${checkout.pathname}${checkout.search}` }),
      await ask(sandbox, host, { path: "/" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(at(answers[0]?.body, "message")).toBe("ForeignHost");
    expect(answers[0]?.text).toContain("allowedHosts");
    expect((await sandbox.contracts.get(contractId))?.status).toBe("pending");
  });

  it.each(own)("%j is none", async (host) => {
    expect((await ask(await startSandbox(), host)).status).toBe(200);
  });

  const allowing: [options: SandboxOptions, host: string, status: number][] = [
    [{ allowedHosts: ["sandbox", "my-tunnel.example"] }, "sandbox:4010", 200],
    [{ allowedHosts: ["Sandbox"] }, "SANDBOX", 200],
    [{ allowedHosts: ["sandbox"] }, "other", 403],
    [{ baseUrl: "https://my-tunnel.example" }, "my-tunnel.example", 200],
    [{ baseUrl: "https://my-tunnel.example" }, "evil.example", 403],
    [{ host: "localhost" }, "localhost:9", 200],
    [{ host: "0.0.0.0" }, "192.168.1.20:4010", 200],
    [{ host: "0.0.0.0" }, "evil.example", 403],
    [{ host: "::" }, "[fe80::1]:4010", 200],
  ];
  it.each(allowing)("with %j: %s is answered %i", async (options, host, status) => {
    const sandbox = await startSandbox(options);
    const reached = { ...sandbox, address: { ...sandbox.address, host: "localhost" } };
    expect((await ask(reached, host)).status).toBe(status);
  });

  it.each([
    [{ allowedHosts: ["http://x"] }, "allowedHosts"],
    [{ allowedHosts: "sandbox" }, "allowedHosts"],
    [{ baseUrl: "sandbox:4010" }, "baseUrl"],
    [{ baseUrl: "http://x/path" }, "baseUrl"],
    [{ baseUrl: "ftp://x" }, "baseUrl"],
  ])("option %j is refused by name", async (options, name) => {
    await expect(startSandbox(options as SandboxOptions)).rejects.toMatchObject({
      code: "invalid-configuration",
      message: expect.stringContaining(name),
    });
  });
});

/** The origins of every link that the API and the text messages give out. */
async function linksOf(sandbox: Sandbox, api: Api, host: string): Promise<string[]> {
  const headers = { Authorization: `Bearer ${api.token}`, "Content-Type": "application/json" };
  const post = (path: string, body: unknown) =>
    ask(sandbox, host, { method: "POST", path, headers, body: JSON.stringify(body) });
  const created = await post("/apps/api/contracts", contractBody());
  const externalContractId = at(created.body, "data.contractId");
  const buyerPhoneNumber = at(created.body, "data.buyerParty.phoneNumber");
  const renewed = await post("/apps/api/contracts/checkout", { externalContractId, buyerPhoneNumber });
  const user = { phoneNumber: "+966511111111", firstName: "Dana", lastName: "" };
  const kyc = await post("/apps/api/user", user);
  const onboarding = await ask(sandbox, host, {
    path: "/apps/api/user/onboarding?phoneNumber=966511111111",
    headers,
  });
  const text = (await sandbox.sms.list()).at(-1)?.text ?? "";
  return [
    at(created.body, "data.checkoutUrl"),
    at(renewed.body, "data.checkoutUrl"),
    at(kyc.body, "data.kycUrl"),
    at(onboarding.body, "data.onboardingUrl"),
    /http\S+/.exec(text)?.[0],
  ].map((link) => new URL(String(link)).origin);
}

describe("links", () => {
  it.each(["localhost:8080", "shop.localhost", "sandbox:4010", "[::1]:4010"])(
    "begin with the address that was asked: %s",
    async (host) => {
      const sandbox = await startSandbox({ allowedHosts: ["sandbox"] });
      const origins = await linksOf(sandbox, await connect(sandbox), host);
      expect(new Set(origins)).toEqual(new Set([`http://${host}`]));
      expect((await ask(sandbox, host, { path: "/_sandbox/" })).text).toContain(
        `http://${host}/connect/token`,
      );
    },
  );

  it("begin with baseUrl where it is set, whatever was asked", async () => {
    const sandbox = await startSandbox({ baseUrl: "https://pay.example/" });
    const api = await connect({ ...sandbox, authUrl: `http://127.0.0.1:${sandbox.address.port}` });
    expect(new Set(await linksOf(sandbox, api, "localhost"))).toEqual(new Set(["https://pay.example"]));
    expect([sandbox.baseUrl, sandbox.controlUrl]).toEqual([
      "https://pay.example",
      "https://pay.example/_sandbox/",
    ]);
  });

  it("lead to the page from the address that was asked", async () => {
    const sandbox = await startSandbox();
    const { checkoutUrl } = await sandbox.createContract();
    expect(new URL(checkoutUrl ?? "").host).toBe(`127.0.0.1:${sandbox.address.port}`);
    expect((await fetch(checkoutUrl ?? "")).status).toBe(200);
  });
});
