import { describe, expect, it } from "vitest";

import type { Sandbox } from "../../src/sandbox.ts";
import { at, call, startSandbox } from "./support.ts";
import type { Answered } from "./support.ts";

/** The control page's forms, as a browser without JavaScript sends them. */
function send({ controlUrl }: Sandbox, path: string, fields: Record<string, string>): Promise<Answered> {
  return call(`${controlUrl}${path}`, { method: "POST", body: new URLSearchParams(fields) });
}

async function follow({ controlUrl }: Sandbox, { headers }: Answered): Promise<Answered> {
  return call(new URL(headers.get("location") ?? "", controlUrl).href);
}

const alertsOf = ({ text }: Answered): string[] =>
  [...text.matchAll(/role="alert">([^]*?)<\/div>/g)].map(([, inner = ""]) =>
    inner
      .replaceAll(/<[^>]+>|\s+/g, " ")
      .replaceAll("&#39;", "'")
      .trim(),
  );

const valueOf = ({ text }: Answered, name: string): string | undefined =>
  new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(text)?.[1];

interface Refused {
  path: string;
  fields: Record<string, string>;
  /** The card to which the browser is led. */
  anchor: string;
  says: string[];
}

const refused: Refused[] = [
  {
    path: "subscription",
    fields: { webhookUrl: "ftp://shop.example/hook" },
    anchor: "#subscription",
    says: ["webhookUrl", "http or https"],
  },
  { path: "subscription", fields: { webhookUrl: "123" }, anchor: "#subscription", says: ["webhookUrl"] },
  {
    path: "subscription",
    fields: { webhookUrl: "" },
    anchor: "#subscription",
    says: ["webhookUrl", "required"],
  },
  { path: "clock/advance", fields: { seconds: "-5" }, anchor: "#clock", says: ["seconds", "from 0"] },
  { path: "clock/advance", fields: { seconds: "soon" }, anchor: "#clock", says: ["seconds", "number"] },
  { path: "clock/advance", fields: { seconds: "1e12" }, anchor: "#clock", says: ["seconds", "1000000000"] },
  { path: "faults", fields: { drop: "2", duplicate: "0.2" }, anchor: "#faults", says: ["drop", "0 to 1"] },
  { path: "faults", fields: { drop: "often" }, anchor: "#faults", says: ["drop", "often"] },
  {
    path: "faults",
    fields: { drop: "2", reorder: "-1" },
    anchor: "#faults",
    says: ["drop", "reorder"],
  },
  {
    path: "faults",
    fields: { delayLeast: "500", delayMost: "20" },
    anchor: "#faults",
    says: ["delayMs", "500"],
  },
  { path: "faults", fields: { seed: "x" }, anchor: "#faults", says: ["seed", "number"] },
];

describe("a form that is refused", () => {
  it.each(refused)(
    "names the field and what is wrong: $path $fields",
    async ({ path, fields, anchor, says }) => {
      const sandbox = await startSandbox();
      const answer = await send(sandbox, path, fields);
      expect([answer.status, answer.headers.get("location")?.endsWith(anchor)]).toEqual([303, true]);
      const page = await follow(sandbox, answer);
      expect([page.status, alertsOf(page).length]).toEqual([200, 1]);
      for (const text of says) expect(alertsOf(page)[0]).toContain(text);
      expect(page.text).not.toContain("ValidationFailed");
      for (const [name, typed] of Object.entries(fields)) expect(valueOf(page, name)).toBe(typed);
      expect(sandbox.faults.get()).not.toHaveProperty("duplicate");
    },
  );

  it("says so at its contract", async () => {
    const sandbox = await startSandbox();
    const { contractId } = await sandbox.createContract();
    const answer = await send(sandbox, `contracts/${contractId}/dispute`, { milestoneId: "" });
    const page = await follow(sandbox, answer);
    expect(answer.headers.get("location")).toMatch(new RegExp(`#${contractId}$`));
    expect(alertsOf(page)).toEqual([
      `Can't dispute ${contractId}, which is Pending. Allowed: approve, reject, cancel, pay.`,
    ]);
  });

  it("is said once more at a reload, and no longer after the next form", async () => {
    const sandbox = await startSandbox();
    const answer = await send(sandbox, "clock/advance", { seconds: "-5" });
    expect(alertsOf(await follow(sandbox, answer)).length).toBe(1);
    expect(alertsOf(await follow(sandbox, answer)).length).toBe(1);
    expect(alertsOf(await follow(sandbox, await send(sandbox, "clock/advance", { seconds: "5" })))).toEqual(
      [],
    );
    expect(alertsOf(await call(sandbox.controlUrl))).toEqual([]);
  });

  it("shows nothing that an address makes up", async () => {
    const { controlUrl } = await startSandbox();
    for (const id of ["0", "x", "<script>", "constructor"])
      expect(alertsOf(await call(`${controlUrl}?problem=${encodeURIComponent(id)}`))).toEqual([]);
  });
});

describe("a form that is taken", () => {
  it("sends the browser on with GET: a reload repeats nothing", async () => {
    const sandbox = await startSandbox();
    const before = sandbox.clock.now();
    const answer = await send(sandbox, "clock/advance", { seconds: "1.5" });
    for (let reload = 0; reload < 3; reload++) expect((await follow(sandbox, answer)).status).toBe(200);
    expect([answer.status, sandbox.clock.now() - before]).toEqual([303, 1_500]);
  });

  it("sets a delay of which one end is given", async () => {
    const sandbox = await startSandbox();
    await send(sandbox, "faults", { delayLeast: "20", delayMost: "" });
    expect(sandbox.faults.get()).toEqual({ delayMs: [20, 20], seed: 1 });
    await send(sandbox, "faults", { delayLeast: "", delayMost: "30" });
    expect(sandbox.faults.get()).toEqual({ delayMs: [0, 30], seed: 1 });
  });
});

describe("an empty control page", () => {
  it("has a button that makes an example contract, which leads to it", async () => {
    const sandbox = await startSandbox();
    expect((await call(sandbox.controlUrl)).text).toContain("Create an example contract");
    const answer = await send(sandbox, "contracts/example", { example: "1" });
    const [contract] = await sandbox.contracts.list();
    expect(contract).toMatchObject({ status: "pending", amountMinor: 100_000, milestones: [{}, {}] });
    expect(answer.headers.get("location")).toBe(`/_sandbox/#${contract?.contractId}`);
    expect((await follow(sandbox, answer)).text).toContain(`id="${contract?.contractId}"`);
  });
});

describe("a payment link", () => {
  it("is replaced on the control page once it is dead, and leads to the new one", async () => {
    const sandbox = await startSandbox();
    const { contractId, checkoutUrl } = await sandbox.createContract();
    expect((await call(sandbox.controlUrl)).text).not.toContain("New payment link");
    await sandbox.clock.advance(600_000);
    expect((await call(sandbox.controlUrl)).text).toContain("New payment link");
    const answer = await send(sandbox, `contracts/${contractId}/checkout`, { milestoneId: "" });
    expect(answer.headers.get("location")).not.toBe(checkoutUrl);
    expect((await follow(sandbox, answer)).text).toContain("Checkout");
  });
});

describe("the control interface", () => {
  it("filters deliveries as the surface does", async () => {
    const sandbox = await startSandbox();
    const { contractId } = await sandbox.createContract();
    await sandbox.createContract();
    await sandbox.act(contractId, "reject");
    for (const filter of [
      { contractId },
      { event: "contract.created" },
      { state: "skipped" as const },
      { contractId, event: "contract.rejected" },
      { state: "failed" as const },
    ]) {
      const read = await call(`${sandbox.controlUrl}deliveries?${new URLSearchParams(filter).toString()}`);
      expect(at(read.body, "data")).toEqual(await sandbox.deliveries.list(filter));
    }
  });
});
