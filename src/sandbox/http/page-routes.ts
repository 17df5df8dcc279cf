import { timingSafeEqual } from "node:crypto";

import { act, allowedActions } from "../service/actions.ts";
import type { Answer } from "../wire/answer.ts";
import { contentTypeOf, wrongMethod } from "./api-routes.ts";
import { refusal } from "./http-server.ts";
import type { Call } from "./http-server.ts";
import { checkoutPage, identityPage, noticePage } from "../pages/checkout.ts";
import type { Notice } from "../pages/checkout.ts";
import { pickLanguage } from "../pages/checkout-words.ts";
import type { Language } from "../pages/checkout-words.ts";
import type { ContractRecord } from "../world/records.ts";
import { changeUser } from "../control/user-changes.ts";
import type { World } from "../world/world.ts";

/** No script runs and nothing is fetched from elsewhere, whatever a title contains. */
const securityHeaders = {
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** The payment page, the identity pages, and a way from `/` to the control page. */
export function answerPage(world: World, call: Call): Answer {
  if (call.path === "/") return redirect("/_sandbox/");
  const [, kind, id = ""] = /^\/(checkout|kyc|onboarding)\/([^/]+)$/.exec(call.path) ?? [];
  if (kind === undefined) {
    const detail = `The sandbox has no ${call.method} ${call.path}. Its API is under /apps/api, its control page at /_sandbox/.`;
    return refusal({ status: 404, message: "NotFound", detail });
  }
  if (!["GET", "HEAD", "POST"].includes(call.method)) return wrongMethod(call, ["GET", "POST"]);
  return kind === "checkout" ? answerCheckout(world, call, id) : answerIdentity(world, call, id);
}

function answerCheckout(world: World, call: Call, contractId: string): Answer {
  const posted = call.method === "POST" ? readForm(call) : undefined;
  const input = posted ?? call.query;
  const language = pickLanguage(input.get("lang"), call.headers["accept-language"]);
  const contract = world.state.contracts.get(contractId);
  const token = input.get("token") ?? "";
  if (contract === undefined || token === "") return notice("unknown", 404, language);
  if (!isToken(contract, token)) return notice("expired", 410, language);
  if (!allowedActions(world, contract).includes("pay")) return notice("closed", 409, language);
  if (contract.checkout.expiresAtMs <= world.clock.now()) return notice("expired", 410, language);
  if (posted === undefined) return htmlAnswer(200, checkoutPage(world, contract, language));
  return takePayment(world, contract, posted.get("result") === "success", language);
}

/** The redirect that the supplement describes: `status`, `paymentId`, `contractId`. */
function takePayment(world: World, contract: ContractRecord, succeeds: boolean, language: Language): Answer {
  if (succeeds) act(world, contract, "pay", null);
  const paymentId = succeeds ? contract.payment?.paymentId : `PAY-${world.state.count("payment")}`;
  world.state.commit();
  if (contract.callbackUrl === null) return notice(succeeds ? "paid" : "failed", 200, language);
  const target = new URL(contract.callbackUrl);
  target.searchParams.append("status", succeeds ? "success" : "failed");
  target.searchParams.append("paymentId", paymentId ?? "");
  target.searchParams.append("contractId", contract.contractId);
  return redirect(target.href);
}

/** The contract's present token, whether or not its time is over. */
function isToken({ checkout }: ContractRecord, token: string): boolean {
  const given = Buffer.from(token);
  const right = Buffer.from(checkout.token);
  return given.length === right.length && timingSafeEqual(given, right);
}

function answerIdentity(world: World, call: Call, platformRefId: string): Answer {
  if (call.method === "POST") {
    changeUser(world, platformRefId, { authorized: true, bankVerified: true });
    world.state.commit();
  }
  const shown = identityPage(world, platformRefId, call.method === "POST");
  return shown === undefined ? notice("unknown", 404, "en") : htmlAnswer(200, shown);
}

function notice(kind: Notice, status: number, language: Language): Answer {
  return htmlAnswer(status, noticePage(kind, language));
}

export function readForm(call: Call): URLSearchParams {
  const form = contentTypeOf(call).startsWith("application/x-www-form-urlencoded");
  return new URLSearchParams(form ? call.body.toString("utf8") : "");
}

export function redirect(to: string): Answer {
  return { status: 303, body: "", headers: { Location: to } };
}

function htmlAnswer(status: number, body: string): Answer {
  return { status, body, contentType: "text/html; charset=utf-8", headers: securityHeaders };
}
