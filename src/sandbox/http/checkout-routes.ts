import { checkoutPage } from "../pages/checkout.ts";
import { noticePage } from "../pages/notice-page.ts";
import { pickLanguage } from "../pages/words.ts";
import type { Language, Notice } from "../pages/words.ts";
import { act, allowedActions } from "../service/actions.ts";
import { judgeToken } from "../service/checkout.ts";
import type { ContractRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";
import { pageAnswer, redirect } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { readForm } from "./call.ts";
import type { Call } from "./call.ts";

/** A visit to the payment page: `result` is what a form sent, or what is to be shown of it. */
interface Visit {
  contract: ContractRecord;
  token: string;
  result: string | null;
  language: Language;
}

/** GET shows, POST pays and sends on to a GET: a reload pays nothing twice. */
export function answerCheckout(world: World, call: Call, contractId: string): Answer {
  const input = call.method === "POST" ? readForm(call) : call.query;
  const language = pickLanguage(input.get("lang"), call.headers["accept-language"]);
  const token = input.get("token") ?? "";
  const contract = world.state.contracts.get(contractId);
  if (contract === undefined || judgeToken(world, contract, token) === "invalid")
    return pageAnswer(404, noticePage("invalid", language, { token }));
  const visit: Visit = { contract, token, language, result: input.get("result") };
  return call.method === "POST" ? takePayment(world, visit) : show(world, visit);
}

function show(world: World, { contract, token, result, language }: Visit): Answer {
  const say = (status: number, notice: Notice): Answer =>
    pageAnswer(status, noticePage(notice, language, { token, ...(result && { result }) }, contract));
  if (result === "success" && contract.payment !== null) return say(200, "paid");
  if (!isPayable(world, contract)) return say(409, "closed");
  if (judgeToken(world, contract, token) === "expired") return say(410, "expired");
  if (result === "failed") return say(200, "failed");
  return pageAnswer(200, checkoutPage(world, contract, language));
}

function takePayment(world: World, visit: Visit): Answer {
  const { contract, token, result, language } = visit;
  const payable = isPayable(world, contract) && judgeToken(world, contract, token) === "valid";
  const query = new URLSearchParams({ token, lang: language });
  if (!payable) return redirect(`/checkout/${contract.contractId}?${query.toString()}`);
  const succeeds = result === "success";
  if (succeeds) act(world, contract, "pay", null);
  const paymentId = succeeds ? contract.payment?.paymentId : `PAY-${world.state.count("payment")}`;
  world.state.commit();
  if (contract.callbackUrl !== null)
    return redirect(backUrl(contract, contract.callbackUrl, succeeds, paymentId));
  query.append("result", succeeds ? "success" : "failed");
  return redirect(`/checkout/${contract.contractId}?${query.toString()}`);
}

/** The redirect that the supplement describes: `status`, `paymentId`, `contractId`. */
function backUrl(
  { contractId }: ContractRecord,
  callbackUrl: string,
  succeeds: boolean,
  paymentId = "",
): string {
  const target = new URL(callbackUrl);
  target.searchParams.append("status", succeeds ? "success" : "failed");
  target.searchParams.append("paymentId", paymentId);
  target.searchParams.append("contractId", contractId);
  return target.href;
}

function isPayable(world: World, contract: ContractRecord): boolean {
  return allowedActions(world, contract).includes("pay");
}
