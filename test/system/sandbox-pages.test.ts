import { mkdirSync } from "node:fs";

import { chromium } from "playwright-core";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import type { Sandbox } from "../../src/sandbox.ts";
import {
  at,
  connect,
  contractBody,
  createContract,
  milestones,
  refund,
  startReceiver,
  startSandbox,
} from "../sandbox/support.ts";
import { contrasts, cutOff, scrollWidth, unnamedControls } from "./in-page.ts";

/**
 * The two pages in a real browser, with mouse and keyboard, in both languages. `SCREENSHOTS=folder` keeps pictures.
 * Each test fails on an error in the browser's console.
 */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
});
afterAll(() => browser.close());

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1_200, height: 900 } });
  problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  onTestFinished(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
});

async function picture(name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

const button = (name: string | RegExp): Locator => page.getByRole("button", { name });

/** A click, or a key, that leads to another page: done when that page is there, as for the person who waits for it. */
async function follow(press: Promise<unknown>, on = page): Promise<void> {
  await Promise.all([on.waitForEvent("load"), press]);
}

async function checkoutOf(
  sandbox: Sandbox,
  change: Record<string, unknown> = {},
): Promise<{ url: string; id: string }> {
  const made = await (
    await connect(sandbox)
  ).post("/apps/api/contracts", contractBody({ Milestones: milestones, ...change }));
  return { url: String(at(made.body, "data.checkoutUrl")), id: String(at(made.body, "data.contractId")) };
}

async function leastContrast(): Promise<number> {
  return Math.min(...(await page.evaluate<number[]>(contrasts)));
}

describe("the checkout page", () => {
  it("shows the order, takes the payment, and goes back to callbackUrl with status, paymentId and contractId", async () => {
    const shop = await startReceiver();
    const sandbox = await startSandbox();
    const { url, id } = await checkoutOf(sandbox, { callbackUrl: `${shop.url}?order=77` });
    await page.goto(url);
    expect(await page.getByRole("heading", { name: "Checkout: Website" }).count()).toBe(1);
    expect(await page.getByRole("row", { name: "Design 600.00 SAR" }).count()).toBe(1);
    expect(await page.getByRole("row", { name: "Total to pay 1,143.75 SAR" }).count()).toBe(1);
    await picture("checkout-en");
    await follow(button("Pay 1,143.75 SAR").click());
    const contract = await sandbox.contracts.get(id);
    const { pathname, searchParams } = new URL(page.url());
    expect(pathname).toBe("/webhooks/escrow");
    expect(Object.fromEntries(searchParams)).toEqual({
      order: "77",
      status: "success",
      paymentId: contract?.paymentId,
      contractId: id,
    });
    expect(contract?.status).toBe("Escrow");
  });

  it("lets the payment fail, after which it can be tried again", async () => {
    const shop = await startReceiver();
    const sandbox = await startSandbox();
    const { url, id } = await checkoutOf(sandbox, { callbackUrl: shop.url });
    await page.goto(url);
    await follow(button("Let the payment fail").click());
    const back = new URL(page.url()).searchParams;
    expect([back.get("status"), back.get("contractId")]).toEqual(["failed", id]);
    expect((await sandbox.contracts.get(id))?.status).toBe("pending");
    await page.goto(url);
    expect(await button(/^Pay/).count()).toBe(1);
  });

  it("is Arabic and right to left at a click, and by the browser's language", async () => {
    const sandbox = await startSandbox();
    const { url } = await checkoutOf(sandbox, { title: "متجر إلكتروني" });
    await page.goto(url);
    await follow(page.getByRole("link", { name: "العربية" }).click());
    expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
    expect(await button("ادفع 1,143.75 SAR").count()).toBe(1);
    const labels = await page.getByText("العقد", { exact: true }).boundingBox();
    const value = await page.locator("dd").first().boundingBox();
    expect(labels !== null && value !== null && labels.x > value.x).toBe(true);
    await picture("checkout-ar");
    await follow(button("ادفع").click());
    expect(await page.getByRole("status").innerText()).toContain("الضمان");
    const arabic = await browser.newContext({ locale: "ar-SA" });
    const other = await arabic.newPage();
    await other.goto((await checkoutOf(sandbox)).url);
    expect(await other.locator("html").getAttribute("lang")).toBe("ar");
    await arabic.close();
  });

  it("dies after ten minutes, and says what to do", async () => {
    const sandbox = await startSandbox();
    const { url } = await checkoutOf(sandbox);
    await page.goto(url);
    await sandbox.clock.advance(600_000);
    await follow(button(/^Pay/).click());
    expect(await page.getByRole("heading").innerText()).toBe("This payment link has expired");
    await picture("checkout-expired");
  });

  it("can be used with the keyboard alone and without JavaScript, and is readable", async () => {
    const sandbox = await startSandbox();
    const { url, id } = await checkoutOf(sandbox);
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const withoutScript = await plain.newPage();
    await withoutScript.goto(url);
    await withoutScript.keyboard.press("Tab");
    await withoutScript.keyboard.press("Tab");
    await follow(withoutScript.keyboard.press("Enter"), withoutScript);
    expect(await withoutScript.getByRole("heading").innerText()).toBe("Payment received");
    expect((await sandbox.contracts.get(id))?.status).toBe("Escrow");
    await plain.close();
    await page.goto((await checkoutOf(sandbox)).url);
    expect(await leastContrast()).toBeGreaterThanOrEqual(4.5);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await leastContrast()).toBeGreaterThanOrEqual(4.5);
  });
});

const badge = (id: string, text: string): Locator => page.locator(`#${id} .badge`, { hasText: text });

/**
 * The control page has looked for changes since now, and has acted on what it saw: the first look may have begun
 * before, and the third begins when the second is over.
 */
async function looked(): Promise<void> {
  for (let look = 1; look <= 3; look++) await page.waitForResponse(/_sandbox\/version$/);
}

describe("the control page", () => {
  it("drives a contract's life: pay, dispute, refund a milestone, settle, and shows each delivery", async () => {
    const receiver = await startReceiver(
      (response, _one, count) =>
        void response.writeHead(count === 1 ? 500 : 200).end('{"outcome":"applied"}'),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const id = await createContract(await connect(sandbox), { Milestones: milestones });
    await sandbox.deliveries.idle();
    await page.goto(sandbox.controlUrl);
    await follow(button(`Pay ${id}`).click());
    await follow(button(`Dispute ${id}`).click());
    await follow(button(`Refund milestone 1 of ${id}`).click());
    await follow(button("Settle refund 4521").click());
    await sandbox.deliveries.idle();
    await page.goto(sandbox.controlUrl);
    expect(await page.locator(`#${id} .badge`).allInnerTexts()).toEqual(["Cancelled", "Refunded", "Escrow"]);
    const created = page.locator(".delivery", { hasText: "contract.created" });
    expect(await created.locator("summary").first().innerText()).toMatch(
      /pending[^]*last: HTTP 500[^]*next attempt 2026-01-25T10:00:10Z/,
    );
    await created.locator("summary").first().click();
    await created.locator("details summary").click();
    expect(await created.innerText()).toContain("X-Service-Signature: sha256=");
    await picture("control");
    await page.getByLabel("Move on by (seconds)").fill("10");
    await follow(button("Advance").click());
    expect(await created.locator("summary").first().innerText()).toContain("delivered");
  });

  it("says why an action was refused", async () => {
    const sandbox = await startSandbox();
    const id = await createContract(await connect(sandbox));
    await page.goto(sandbox.controlUrl);
    await page.getByLabel("Follow changes").uncheck();
    await sandbox.act(id, "reject");
    await follow(button(`Pay ${id}`).click());
    expect(await page.getByRole("alert").innerText()).toContain("which is Rejected");
  });

  it("draws itself anew when something happened, not while one types, and keeps what is open and typed", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const api = await connect(sandbox);
    const id = await createContract(api);
    await sandbox.deliveries.idle();
    await page.goto(sandbox.controlUrl);
    await page.locator(".delivery summary").first().click();
    await sandbox.act(id, "pay");
    await badge(id, "Escrow").waitFor();
    expect(await page.locator(".delivery[open]").count()).toBe(1);
    await page.getByLabel("Seed").fill("77");
    await refund(api, id);
    await looked();
    expect(await badge(id, "Escrow").count()).toBe(1);
    await page.getByLabel("Follow changes").focus();
    await badge(id, "RefundInProgress").waitFor();
    expect(await page.getByLabel("Seed").inputValue()).toBe("77");
  });

  it("resends, subscribes, sets faults, and has a name on every control", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    await page.goto(sandbox.controlUrl);
    await page.getByLabel("Webhook URL").fill(receiver.url);
    await follow(button("Subscribe").click());
    await createContract(api);
    await sandbox.deliveries.idle();
    await page.goto(sandbox.controlUrl);
    await page.locator(".delivery summary").first().click();
    await follow(button(/^Resend contract.created/).click());
    await sandbox.deliveries.idle();
    expect(receiver.events()).toEqual(["contract.created", "contract.created"]);
    await page.getByLabel(/^Duplicate/).fill("0.25");
    await page.getByLabel(/^Delay to/).fill("300");
    await follow(button("Set the faults").click());
    expect(sandbox.faults.get()).toEqual({ duplicate: 0.25, delayMs: [0, 300], seed: 1 });
    expect(await page.evaluate<number>(unnamedControls)).toBe(0);
    expect(await leastContrast()).toBeGreaterThanOrEqual(4.5);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await leastContrast()).toBeGreaterThanOrEqual(4.5);
  });

  it.each([375, 390])(
    "fits a phone %i wide: nothing is cut off, each action can be reached",
    async (width) => {
      const sandbox = await startSandbox({
        webhookUrl: "http://127.0.0.1:9/a/rather/long/path/to/the/webhooks",
      });
      const id = await createContract(await connect(sandbox), {
        title: "متجر إلكتروني with averylongwordthatdoesnotwrapbyitselfbecauseithasnospaces",
        Milestones: [
          { ...milestones[0], Name: "A long name of a milestone, with some more words" },
          milestones[1],
        ],
      });
      await sandbox.act(id, "pay");
      await sandbox.requestRefund(id, { milestoneId: 1, reason: "x".repeat(500) });
      await sandbox.settleRefund("4521");
      await sandbox.act(await createContract(await connect(sandbox), { Milestones: milestones }), "pay");
      await sandbox.deliveries.idle();
      await page.setViewportSize({ width, height: 812 });
      await page.goto(sandbox.controlUrl);
      await page.locator(".delivery summary").first().click();
      await picture(`control-phone-${width}`);
      expect(await page.evaluate<number>(scrollWidth)).toBeLessThanOrEqual(width);
      expect(await page.evaluate<string[]>(cutOff)).toEqual([]);
      await follow(button("Refund milestone 3").click());
      expect((await sandbox.refunds.list()).length).toBe(2);
    },
  );

  it("makes an example contract, and keeps what was typed beside what is wrong with it", async () => {
    const sandbox = await startSandbox();
    await page.goto(sandbox.controlUrl);
    await follow(button("Create an example contract").click());
    expect(await page.getByRole("heading", { name: /Website/ }).count()).toBe(1);
    await page.getByLabel("Webhook URL").fill("ftp://shop.example");
    await follow(button("Subscribe").click());
    expect(await page.getByRole("alert").innerText()).toContain("webhookUrl must be");
    expect(await page.getByLabel("Webhook URL").inputValue()).toBe("ftp://shop.example");
    await page.reload();
    expect(await page.getByRole("alert").count()).toBe(1);
    await sandbox.createContract();
    await page.getByRole("heading", { name: "Contracts (2)" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
  });
});

describe("the identity page", () => {
  it("verifies at a click in either language, and leads to the control page", async () => {
    const sandbox = await startSandbox();
    const { buyer } = await sandbox.createContract();
    await sandbox.users.set(buyer, { authorized: false });
    await page.setViewportSize({ width: 375, height: 812 });
    await page.goto(`${sandbox.baseUrl}/kyc/${buyer}`);
    await follow(page.getByRole("link", { name: "العربية" }).click());
    expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
    await picture("identity-ar");
    await follow(button("أكمل التحقق").click());
    expect(await page.getByRole("status").innerText()).toContain("تم التحقق");
    expect(
      (await sandbox.users.list()).find(({ platformRefId }) => platformRefId === buyer)?.authorized,
    ).toBe(true);
    expect(await page.evaluate<number>(scrollWidth)).toBeLessThanOrEqual(375);
    await follow(page.getByRole("link", { name: "لوحة التحكم" }).click());
    expect(page.url()).toBe(sandbox.controlUrl);
  });
});
