import { ok } from "../../shared/result.ts";
import { act, actionNames } from "../service/actions.ts";
import { refuse, refuseFields } from "../wire/answer.ts";
import type { Answer, Outcome } from "../wire/answer.ts";
import { contentTypeOf, readJson, wrongMethod } from "./api-routes.ts";
import { findContract } from "../service/contracts.ts";
import { parseFaults } from "../world/faults.ts";
import { Fields } from "../wire/fields.ts";
import { refusal } from "./http-server.ts";
import type { Call } from "./http-server.ts";
import { readForm, redirect } from "./page-routes.ts";
import { controlPage } from "../pages/control.ts";
import { requestRefund, settleRefund } from "../service/refunds.ts";
import { putSubscription } from "../service/subscriptions.ts";
import { revokeTokens } from "../service/tokens.ts";
import {
  listContracts,
  listRefunds,
  toSandboxContract,
  toSandboxDelivery,
  toSandboxRefund,
} from "../control/truth.ts";
import { changeUser } from "../control/user-changes.ts";
import type { World } from "../world/world.ts";

/**
 * `/_sandbox/…`: what has no endpoint in the service, for users of any language (JSON) and for the control page
 * (forms, which come back to it). Nothing here is the service's own interface.
 */
interface ControlRoute {
  method: string;
  path: RegExp;
  run: (
    world: World,
    body: Record<string, unknown>,
    ids: readonly string[],
    call: Call,
  ) => Outcome<unknown> | Promise<Outcome<unknown>>;
}

const routes: readonly ControlRoute[] = [
  { method: "GET", path: /^version$/, run: (world) => ok({ version: world.state.version }) },
  { method: "GET", path: /^contracts$/, run: (world) => ok(listContracts(world)) },
  { method: "GET", path: /^contracts\/([^/]+)$/, run: (world, _body, [id = ""]) => getContract(world, id) },
  {
    method: "POST",
    path: /^contracts\/([^/]+)\/refund$/,
    run: (world, body, [id = ""]) => postRefund(world, id, body),
  },
  {
    method: "POST",
    path: /^contracts\/([^/]+)\/([^/]+)$/,
    run: (world, body, [id = "", action = ""]) => postAction(world, id, action, body),
  },
  { method: "GET", path: /^refunds$/, run: (world) => ok(listRefunds(world)) },
  {
    method: "POST",
    path: /^refunds\/(\d+)\/settle$/,
    run: (world, _body, [id]) => postSettle(world, Number(id)),
  },
  { method: "GET", path: /^deliveries$/, run: (world) => ok(listDeliveries(world)) },
  {
    method: "POST",
    path: /^deliveries\/([^/]+)\/resend$/,
    run: (world, _body, [id = ""]) => postResend(world, id),
  },
  { method: "POST", path: /^deliveries\/idle$/, run: (world) => waited(world.deliveries.idle()) },
  // A receiver for those who have none yet: point the webhook URL at it and read the deliveries here.
  { method: "POST", path: /^sink$/, run: () => ok(null) },
  { method: "GET", path: /^subscription$/, run: getSubscription },
  { method: "POST", path: /^subscription$/, run: postSubscription },
  {
    method: "GET",
    path: /^faults$/,
    run: (world) => ok({ faults: world.faults.get(), counts: world.faults.counts() }),
  },
  { method: "POST", path: /^faults$/, run: (world, body) => postFaults(world, body) },
  { method: "GET", path: /^clock$/, run: (world) => ok(clockOf(world)) },
  { method: "POST", path: /^clock\/advance$/, run: (world, body) => postAdvance(world, body) },
  { method: "GET", path: /^sms$/, run: (world) => ok(world.state.sms) },
  { method: "GET", path: /^users$/, run: (world) => ok(Array.from(world.state.users.values())) },
  { method: "POST", path: /^users\/([^/]+)$/, run: (world, body, [id = ""]) => changeUser(world, id, body) },
  { method: "POST", path: /^tokens\/revoke$/, run: (world) => ok(revokeTokens(world) ?? null) },
];

export async function answerControl(world: World, call: Call): Promise<Answer> {
  if (!isSameOrigin(call)) {
    return refusal({
      status: 403,
      message: "ForeignOrigin",
      detail: "Another site's page may not control the sandbox.",
    });
  }
  const path = call.path.slice("/_sandbox/".length);
  if (path === "" && call.method !== "POST") return pageAnswer(world, 200, undefined);
  const matching = routes.filter((route) => route.path.test(path));
  const route = matching.find(({ method }) => method === call.method);
  if (route === undefined) return unknown(call, matching);
  const isForm = contentTypeOf(call).startsWith("application/x-www-form-urlencoded") && call.body.length > 0;
  const body = isForm ? ok(fromForm(readForm(call))) : readBody(call);
  const made = body.ok
    ? await route.run(world, body.value, route.path.exec(path)?.slice(1) ?? [], call)
    : body;
  world.state.commit();
  if (isForm)
    return made.ok
      ? redirect(`/_sandbox/${anchorOf(path)}`)
      : pageAnswer(world, made.error.status, made.error.detail ?? made.error.message);
  return made.ok ? jsonAnswer(made.value) : refusal(made.error);
}

/** A form of another site could reach the loopback address; browsers say where a form comes from. */
function isSameOrigin({ headers }: Call): boolean {
  const { origin, host } = headers;
  return origin === undefined || !URL.canParse(origin) ? origin !== "null" : new URL(origin).host === host;
}

function unknown(call: Call, matching: readonly ControlRoute[]): Answer {
  if (matching.length > 0)
    return wrongMethod(
      call,
      matching.map(({ method }) => method),
    );
  return refusal({
    status: 404,
    message: "NotFound",
    detail: `There is no ${call.path}. See the sandbox's README.`,
  });
}

function readBody(call: Call): Outcome<Record<string, unknown>> {
  if (call.body.length === 0) return ok({});
  const read = readJson(call);
  if (!read.ok) return read;
  if (typeof read.value === "object" && read.value !== null && !Array.isArray(read.value)) {
    return ok(Object.fromEntries(Object.entries(read.value)));
  }
  return refuseFields({ field: "body", message: "The body must be a JSON object." });
}

/** Numbers where a form field holds one; empty fields are left out. */
function fromForm(form: URLSearchParams): Record<string, unknown> {
  const filled = Array.from(form).filter(([, value]) => value !== "");
  return Object.fromEntries(
    filled.map(([name, value]) => [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]),
  );
}

function anchorOf(path: string): string {
  const [first = "", id] = path.split("/");
  return first === "contracts" && id !== undefined ? `#${id}` : `#${first}`;
}

function pageAnswer(world: World, status: number, problem: string | undefined): Answer {
  return {
    status,
    body: controlPage(world, problem),
    contentType: "text/html; charset=utf-8",
    headers: {
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; form-action 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
      "X-Content-Type-Options": "nosniff",
    },
  };
}

function jsonAnswer(value: unknown): Answer {
  const envelope = {
    data: value,
    message: "",
    status: 200,
    validationErrors: [],
    succeeded: true,
    errors: [],
  };
  return { status: 200, body: JSON.stringify(envelope) };
}

async function waited(waiting: Promise<void>): Promise<Outcome<null>> {
  await waiting;
  return ok(null);
}

function getContract(world: World, id: string): Outcome<unknown> {
  const found = findContract(world, id);
  return found.ok ? ok(toSandboxContract(world, found.value)) : found;
}

function postAction(
  world: World,
  id: string,
  action: string,
  body: Record<string, unknown>,
): Outcome<unknown> {
  const found = findContract(world, id);
  if (!found.ok) return found;
  if (!actionNames().includes(action)) {
    return refuse(
      404,
      "UnknownAction",
      `There is no action ${action}. Actions: ${actionNames().join(", ")}.`,
    );
  }
  const fields = new Fields(body);
  const milestoneId = fields.optionalInteger("milestoneId");
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  const acted = act(world, found.value, action, milestoneId);
  return acted.ok ? ok(toSandboxContract(world, acted.value)) : acted;
}

/** The API's refund in the name of the contract's own business: so that it can be had with a button. */
async function postRefund(
  world: World,
  id: string,
  body: Record<string, unknown>,
): Promise<Outcome<unknown>> {
  const found = findContract(world, id);
  if (!found.ok) return found;
  const request = { reason: "Requested on the control page", ...body };
  const made = await requestRefund(world, found.value.business, id, request);
  return made.ok ? ok(toSandboxRefund(made.value)) : made;
}

function postSettle(world: World, refundId: number): Outcome<unknown> {
  const settled = settleRefund(world, refundId);
  return settled.ok ? ok(toSandboxRefund(settled.value)) : settled;
}

function listDeliveries(world: World): unknown {
  return Array.from(world.state.deliveries.values(), toSandboxDelivery);
}

function postResend(world: World, webhookId: string): Outcome<null> {
  const delivery = world.state.deliveries.get(webhookId);
  if (delivery === undefined) return refuse(404, "DeliveryNotFound", `There is no webhook ${webhookId}.`);
  world.deliveries.resend(delivery);
  return ok(null);
}

function getSubscription(world: World): Outcome<unknown> {
  return ok(world.state.subscriptions.get(world.settings.clientId) ?? null);
}

function postSubscription(world: World, body: Record<string, unknown>): Outcome<unknown> {
  const made = putSubscription(world, world.settings.clientId, body);
  return made.ok ? ok(made.value.subscription) : made;
}

/** JSON as `faults.set` takes it, with `seed`; the page's form has `delayLeast` and `delayMost` instead of a list. */
function postFaults(world: World, body: Record<string, unknown>): Outcome<unknown> {
  const { seed = 1, delayLeast, delayMost, ...rest } = body;
  const delay = delayMost === undefined ? {} : { delayMs: [delayLeast ?? 0, delayMost] };
  try {
    world.faults.set(parseFaults({ ...rest, ...delay }), { seed: Number(seed) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      error: {
        status: 400,
        message: "ValidationFailed",
        detail: message,
        validationErrors: [{ field: "body", message }],
      },
    };
  }
  world.state.version++;
  return ok({ faults: world.faults.get(), counts: world.faults.counts() });
}

function clockOf({ clock }: World): unknown {
  return { kind: clock.kind, speed: clock.speed, now: new Date(clock.now()).toISOString() };
}

/** `ms`, or `seconds` as the page's form gives them. */
async function postAdvance(world: World, body: Record<string, unknown>): Promise<Outcome<unknown>> {
  const ms = body["ms"] ?? Number(body["seconds"]) * 1_000;
  if (typeof ms !== "number" || !(ms >= 0 && ms <= 1e12)) {
    return refuseFields({ field: "ms", message: "ms must be a number of milliseconds from 0." });
  }
  await world.clock.advance(ms);
  world.state.version++;
  return ok(clockOf(world));
}
