import { describe, expect, it } from "vitest";

import type { Sandbox } from "../../src/sandbox.ts";
import { at, call, connect, contractBody, startReceiver, startSandbox } from "./support.ts";
import type { Answered } from "./support.ts";

/** The pages for buyers and sellers, as a browser without JavaScript sees them. */
interface Checkout {
  sandbox: Sandbox;
  id: string;
  url: URL;
}

async function openCheckout(change: Record<string, unknown> = {}): Promise<Checkout> {
  const sandbox = await startSandbox();
  const made = await (await connect(sandbox)).post("/apps/api/contracts", contractBody(change));
  const url = new URL(String(at(made.body, "data.checkoutUrl")));
  return { sandbox, id: String(at(made.body, "data.contractId")), url };
}

const withToken = ({ url }: Checkout, token: string): string => `${url.origin}${url.pathname}?token=${token}`;
const tokenOf = ({ url }: Checkout): string => url.searchParams.get("token") ?? "";

/** What the page's button sends. */
function press(
  { url }: Checkout,
  result: string,
  token = url.searchParams.get("token") ?? "",
): Promise<Answered> {
  const body = new URLSearchParams({ token, lang: "en", result });
  return call(url.href, { method: "POST", body });
}

/** Follows a redirect, as a browser does. */
function next(checkout: Checkout, { headers }: Answered): Promise<Answered> {
  return call(new URL(headers.get("location") ?? "", checkout.url).href);
}

const headingOf = ({ text }: Answered): string => /<h1>([^]*?)<\/h1>/.exec(text)?.[1]?.trim() ?? "";

describe("a payment link", () => {
  const forged: [what: string, token: (right: string) => string][] = [
    ["another token", () => "0123456789abcdef0123456789abcdef"],
    ["a token cut short", (right) => right.slice(0, -1)],
    ["a token with one letter changed", (right) => right.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
    ["a token in upper case", (right) => `X${right.slice(1).toUpperCase()}`],
    ["no token", () => ""],
    ["a token beyond ASCII", () => "مفتاح"],
  ];

  it.each(forged)("that was forged is called invalid, not expired: %s", async (_what, change) => {
    const checkout = await openCheckout();
    const token = change(tokenOf(checkout));
    const shown = await call(withToken(checkout, encodeURIComponent(token)));
    expect([shown.status, headingOf(shown)]).toEqual([404, "This payment link is invalid"]);
    expect((await press(checkout, "success", token)).status).toBe(404);
    await checkout.sandbox.clock.advance(600_000);
    expect((await call(withToken(checkout, encodeURIComponent(token)))).status).toBe(404);
    expect((await checkout.sandbox.contracts.get(checkout.id))?.status).toBe("pending");
  });

  it("of another contract is invalid, and so is that of none", async () => {
    const checkout = await openCheckout();
    const other = await checkout.sandbox.createContract();
    const wrong = [`/checkout/${other.contractId}`, "/checkout/CNT-2601-99999999", "/checkout/x"];
    for (const path of wrong) {
      const shown = await call(`${checkout.url.origin}${path}${checkout.url.search}`);
      expect([shown.status, headingOf(shown)]).toEqual([404, "This payment link is invalid"]);
    }
  });

  it("is called expired after ten minutes, and once a newer one has replaced it", async () => {
    const checkout = await openCheckout();
    const renewed = await call(`${checkout.sandbox.controlUrl}contracts/${checkout.id}/checkout`, {
      method: "POST",
    });
    const newer = { ...checkout, url: new URL(String(at(renewed.body, "data.checkoutUrl"))) };
    const first = await call(checkout.url.href);
    expect([first.status, headingOf(first)]).toEqual([410, "This payment link has expired"]);
    expect((await press(checkout, "success")).headers.get("location")).not.toContain("result");
    expect((await call(newer.url.href)).status).toBe(200);
    await checkout.sandbox.clock.advance(600_000);
    const second = await call(newer.url.href);
    expect([second.status, headingOf(second)]).toEqual([410, "This payment link has expired"]);
    const pressed = await press(newer, "success");
    expect(headingOf(await next(newer, pressed))).toBe("This payment link has expired");
    expect((await checkout.sandbox.contracts.get(checkout.id))?.status).toBe("pending");
  });
});

describe("a result", () => {
  it("comes by GET after the form, so that a reload pays nothing twice, and leads on", async () => {
    const checkout = await openCheckout();
    const failed = await press(checkout, "failed");
    const failedPage = await next(checkout, failed);
    expect([failed.status, failedPage.status, headingOf(failedPage)]).toEqual([
      303,
      200,
      "The payment failed",
    ]);
    const again = /href="(\?token=[^"]+)">\s*Try again/.exec(failedPage.text)?.[1]?.replaceAll("&amp;", "&");
    expect(headingOf(await call(new URL(again ?? "", checkout.url).href))).toContain("Checkout");
    const paid = await press(checkout, "success");
    const pages = [await next(checkout, paid), await next(checkout, paid)];
    expect(pages.map((page) => [page.status, headingOf(page)])).toEqual([
      [200, "Payment received"],
      [200, "Payment received"],
    ]);
    for (const page of [failedPage, ...pages])
      expect(page.text).toContain(`href="/_sandbox/#${checkout.id}"`);
    const events = (await checkout.sandbox.deliveries.list()).map(({ event }) => event);
    expect(events.filter((event) => event === "payment.completed").length).toBe(1);
  });

  it("goes to callbackUrl with GET where there is one", async () => {
    const shop = await startReceiver();
    const checkout = await openCheckout({ callbackUrl: shop.url });
    const { status, headers } = await press(checkout, "failed");
    expect([status, headers.get("location")?.startsWith(shop.url)]).toEqual([303, true]);
  });

  it("is not shown before there is one, whatever the address says", async () => {
    const checkout = await openCheckout();
    const shown = await call(`${checkout.url.href}&result=success`);
    expect(headingOf(shown)).toContain("Checkout");
  });

  it("of a contract that has ended is that there is nothing to pay", async () => {
    const checkout = await openCheckout();
    await checkout.sandbox.act(checkout.id, "reject");
    const shown = await next(checkout, await press(checkout, "success"));
    expect([shown.status, headingOf(shown)]).toEqual([409, "There is nothing to pay"]);
    expect(shown.text).toContain(`href="/_sandbox/#${checkout.id}"`);
  });
});

const mixed = "Shop (متجر) v2!";

describe("text of either direction", () => {
  it.each(["en", "ar"])("stands isolated on the payment page, in its title too: %s", async (lang) => {
    const checkout = await openCheckout({
      title: mixed,
      description: mixed,
      reference: mixed,
      BuyerParty: { phoneNumber: "+966500000003", firstName: mixed, lastName: "" },
      SellerParty: { phoneNumber: "+966500000004", firstName: mixed, lastName: "" },
      Milestones: [
        { Name: mixed, Amount: 600, DueDate: "2026-03-01T00:00:00Z" },
        { Name: mixed, Amount: 400, DueDate: "2026-03-01T00:00:00Z" },
      ],
    });
    const { text } = await call(`${checkout.url.href}&lang=${lang}`);
    expect(text).toContain(`\u2068${mixed}\u2069</title>`);
    expectIsolated(text);
  });

  it("stands isolated on the control page", async () => {
    const { sandbox, id } = await openCheckout({ title: mixed, reference: mixed });
    await sandbox.act(id, "pay");
    await sandbox.requestRefund(id, { reason: mixed });
    const { text } = await call(sandbox.controlUrl);
    expect(text.split(mixed).length - 1).toBeGreaterThanOrEqual(3);
    // A webhook's body is shown as it is sent.
    expectIsolated(text.replaceAll(/<pre[^]*?<\/pre>/g, ""));
  });
});

/** Each occurrence is the text of a `bdi` element, or of one whose direction is its own. */
function expectIsolated(page: string): void {
  const text = page.replace(/<title>[^]*?<\/title>/, "");
  const all = text.split(mixed).length - 1;
  const isolated = [...text.matchAll(/<(bdi|p dir="auto")>([^<]*)</g)].filter(([, , inner = ""]) =>
    inner.includes(mixed),
  );
  expect([all > 0, isolated.length]).toEqual([true, all]);
}

/** The page of a user who is not verified yet. */
async function openIdentity(kind: "kyc" | "onboarding", lang: string) {
  const { sandbox, id } = await openCheckout();
  const user = (await sandbox.contracts.get(id))?.buyer ?? "";
  await sandbox.users.set(user, { authorized: false, bankVerified: false });
  const url = `${sandbox.baseUrl}/${kind}/${user}`;
  return { sandbox, user, url, shown: await call(`${url}?lang=${lang}`) };
}

describe("the identity page", () => {
  it.each(["kyc", "onboarding"] as const)("of %s is Arabic, right to left, and leads on", async (kind) => {
    const { shown, url, sandbox, user } = await openIdentity(kind, "ar");
    expect(shown.text).toMatch(/<html lang="ar" dir="rtl">/);
    expect(headingOf(shown)).toBe("التحقق من هويتك");
    expect(shown.text).toContain('href="?lang=en"');
    const sent = await call(url, { method: "POST", body: new URLSearchParams({ lang: "ar" }) });
    const done = await call(new URL(sent.headers.get("location") ?? "", url).href);
    expect([sent.status, done.status, done.text.includes("تم التحقق")]).toEqual([303, 200, true]);
    expect(done.text).toContain('href="/_sandbox/"');
    const changed = (await sandbox.users.list()).find(({ platformRefId }) => platformRefId === user);
    expect(changed).toMatchObject({ authorized: true, bankVerified: true });
  });

  it("follows the browser's language, and is English otherwise", async () => {
    const { url } = await openIdentity("kyc", "en");
    const arabic = await call(url, { headers: { "Accept-Language": "ar-SA,en;q=0.5" } });
    expect(headingOf(arabic)).toBe("التحقق من هويتك");
    expect(headingOf(await call(url))).toBe("Verify your identity");
  });

  it("of nobody is invalid in both languages", async () => {
    const sandbox = await startSandbox();
    for (const [lang, heading] of [
      ["en", "This link is invalid"],
      ["ar", "الرابط غير صالح"],
    ]) {
      const shown = await call(`${sandbox.baseUrl}/kyc/nobody?lang=${lang}`);
      expect([shown.status, headingOf(shown)]).toEqual([404, heading]);
    }
  });
});
