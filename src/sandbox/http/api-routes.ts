import { ok } from "../../shared/result.ts";
import { sleep } from "../../shared/timers.ts";
import { checkoutUrl, requestCheckout } from "../service/checkout.ts";
import { createContract } from "../service/contracts.ts";
import { readLogs } from "../service/delivery-log.ts";
import { findContract } from "../service/find-contract.ts";
import { requestRefund } from "../service/refunds.ts";
import {
  deleteSubscription,
  findSubscription,
  putSubscription,
  regenerateSecret,
  sendTest,
} from "../service/subscriptions.ts";
import { authenticate, issueToken } from "../service/tokens.ts";
import { findUserByPhone, postUser } from "../service/users.ts";
import {
  toCreatedContract,
  toCreatedUser,
  toLogPage,
  toOnboarding,
  toReadContract,
  toRefund,
  toSubscription,
} from "../service/views.ts";
import type { Granted } from "../wire/refusal.ts";
import { writeJson } from "../wire/json.ts";
import type { Json } from "../wire/json.ts";
import type { World } from "../world/world.ts";
import { accepted, refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { isForm, readForm, readJson, wrongMethod } from "./call.ts";
import type { Call } from "./call.ts";

type Made = Granted<{ data: Json; message: string }>;

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
  { method: "GET", path: "/apps/api/user/onboarding", run: getOnboarding },
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
  if (!isForm(call)) {
    const detail = "The token request must be form-encoded: Content-Type: application/x-www-form-urlencoded.";
    return refused({ status: 400, message: "ValidationFailed", detail });
  }
  const issued = issueToken(world, readForm(call));
  return issued.ok ? { status: 200, body: writeJson(issued.value) } : refused(issued.error);
}

async function answerRoute(world: World, call: Call): Promise<Answer> {
  const found = findRoute(call);
  if (found === undefined) return unknownPath(call);
  const { route, id } = found;
  const open = route.run === getContract && !world.settings.getRequiresToken;
  const caller = open ? ok("") : authenticate(world, call.headers.authorization);
  if (!caller.ok) return refused(caller.error, { "WWW-Authenticate": "Bearer" });
  const done = await route.run({ world, call, business: caller.value, id });
  if (!done.ok) return refused(done.error);
  return accepted(done.value.data, done.value.message, world.settings.amountStyle);
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
  const detail = `The service has no ${call.method} ${call.path}.`;
  return refused({ status: 404, message: "NotFound", detail });
}

function failedRequest(status: 429 | 500 | 502 | 503): Answer {
  if (status === 502) {
    return { status, contentType: "text/html", body: "<html><body><h1>502 Bad Gateway</h1></body></html>" };
  }
  const headers: Record<string, string> = status === 500 ? {} : { "Retry-After": "1" };
  const detail = "The sandbox's fault apiErrors. Nothing was done.";
  return refused({ status, message: "SandboxFault", detail }, headers);
}

/** The answer to what was done: its message and what it shows. */
function made<T>(granted: Granted<T>, message: string, toData: (value: T) => Json): Made {
  return granted.ok ? ok({ data: toData(granted.value), message }) : granted;
}

const asIs = (data: Json): Json => data;

function postContract({ world, call, business }: ApiCall): Made {
  const body = readJson(call);
  const contract = body.ok ? createContract(world, business, body.value) : body;
  return made(contract, "Contract created successfully.", (one) => toCreatedContract(world, one));
}

function postCheckout({ world, call, business }: ApiCall): Made {
  const body = readJson(call);
  const contract = body.ok ? requestCheckout(world, business, body.value) : body;
  return made(contract, "ContractCheckoutStartedSuccessfully", (one) => ({
    checkoutUrl: checkoutUrl(world, one),
  }));
}

function getContract({ world, business, id }: ApiCall): Made {
  const found = findContract(world, id, business === "" ? undefined : business);
  return made(found, "ContractRetrievedSuccessfully", (contract) => toReadContract(world, contract));
}

async function postRefund({ world, call, business, id }: ApiCall): Promise<Made> {
  const body = readJson(call);
  const refund = body.ok ? await requestRefund(world, business, id, body.value) : body;
  const partial = refund.ok && refund.value.kind === "partial";
  return made(refund, partial ? "PartialRefundCreatedSuccessfully" : "RefundCreatedSuccessfully", toRefund);
}

function postWebhook({ world, call, business }: ApiCall): Made {
  const body = readJson(call);
  const put = body.ok ? putSubscription(world, business, body.value) : body;
  const created = put.ok && put.value.created;
  const message = created ? "Webhook created successfully." : "Webhook updated successfully.";
  return made(put, message, ({ subscription }) => toSubscription(subscription));
}

function getWebhook({ world, business }: ApiCall): Made {
  return made(findSubscription(world, business), "", toSubscription);
}

function deleteWebhook({ world, business }: ApiCall): Made {
  return made(deleteSubscription(world, business), "Webhook deleted successfully.", asIs);
}

function postSecret({ world, business }: ApiCall): Made {
  return made(regenerateSecret(world, business), "Webhook secret regenerated successfully.", asIs);
}

function postTest({ world, business }: ApiCall): Made {
  return made(sendTest(world, business), "Test webhook sent.", asIs);
}

function getLogs({ world, call, business }: ApiCall): Made {
  return made(readLogs(world, business, call.query), "", toLogPage);
}

function postUserRoute({ world, call }: ApiCall): Made {
  const body = readJson(call);
  const user = body.ok ? postUser(world, body.value) : body;
  return made(user, "User created successfully.", (one) => toCreatedUser(world, one));
}

function getOnboarding({ world, call }: ApiCall): Made {
  const user = findUserByPhone(world, call.query.get("phoneNumber"));
  return made(user, "UserRetrievedSuccessfully", (one) => toOnboarding(world, one));
}
