import { ok } from "../../shared/result.ts";
import * as controls from "../control/controls.ts";
import { listContracts, listRefunds } from "../control/truth.ts";
import type { SandboxContract, SandboxRefund } from "../control/truth.ts";
import { changeUser } from "../control/user-changes.ts";
import { controlPage } from "../pages/control.ts";
import { revokeTokens } from "../service/tokens.ts";
import { refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { Fields } from "../wire/fields.ts";
import type { World } from "../world/world.ts";
import { htmlAnswer, redirect, refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { isForm, readForm, readJson, wrongMethod } from "./call.ts";
import type { Call } from "./call.ts";
import { readControlForm, toProblem } from "./control-forms.ts";
import type { FormProblems } from "./form-problems.ts";

interface ControlCall {
  world: World;
  /** The JSON body, or what a form comes to. */
  input: Record<string, unknown>;
  /** The texts of the path's groups. */
  ids: readonly string[];
  query: URLSearchParams;
}

/** The result of a call, and where a form's browser goes then, if not back to the form. */
interface Made {
  granted: Granted<unknown>;
  next?: string | undefined;
}

/**
 * `/_sandbox/…`: what has no endpoint in the service, for users of any language (JSON) and for the control page
 * (forms, which come back to it). Nothing here is the service's own interface.
 */
interface ControlRoute {
  method: "GET" | "POST";
  path: RegExp;
  run: (call: ControlCall) => Promise<Made>;
}

function get(path: RegExp, read: (call: ControlCall) => Granted<unknown>): ControlRoute {
  return { method: "GET", path, run: async (call) => ({ granted: read(call) }) };
}

function post<T>(
  path: RegExp,
  act: (call: ControlCall) => Granted<T> | Promise<Granted<T>>,
  leadTo?: (value: T) => string | undefined,
): ControlRoute {
  const run = async (call: ControlCall): Promise<Made> => {
    const granted = await act(call);
    return { granted, next: granted.ok ? leadTo?.(granted.value) : undefined };
  };
  return { method: "POST", path, run };
}

const toCard = ({ contractId }: SandboxContract): string => `/_sandbox/#${contractId}`;
const toCheckout = ({ checkoutUrl }: SandboxContract): string | undefined => checkoutUrl ?? undefined;

const routes: readonly ControlRoute[] = [
  get(/^version$/, ({ world }) => ok({ version: world.state.version })),
  get(/^contracts$/, ({ world }) => ok(listContracts(world))),
  post(/^contracts$/, ({ world, input }) => controls.makeContract(world, input)),
  post(/^contracts\/example$/, ({ world }) => controls.makeExample(world), toCard),
  get(/^contracts\/([^/]+)$/, ({ world, ids: [id = ""] }) => controls.getContract(world, id)),
  post(/^contracts\/([^/]+)\/refund$/, postRefund),
  post(
    /^contracts\/([^/]+)\/checkout$/,
    ({ world, ids: [id = ""] }) => controls.renewLink(world, id),
    toCheckout,
  ),
  post(/^contracts\/([^/]+)\/([^/]+)$/, postAction),
  get(/^refunds$/, ({ world }) => ok(listRefunds(world))),
  post(/^refunds\/(\d+)\/settle$/, ({ world, ids: [id] }) => controls.settle(world, Number(id))),
  get(/^deliveries$/, ({ world, query }) => ok(controls.listDeliveries(world, toFilter(query)))),
  post(/^deliveries\/([^/]+)\/resend$/, ({ world, ids: [id = ""] }) => controls.resend(world, id)),
  post(/^deliveries\/idle$/, async ({ world }) => ok(await world.deliveries.idle().then(() => null))),
  // A receiver for those who have none yet: point the webhook URL at it and read the deliveries here.
  post(/^sink$/, () => ok(null)),
  get(/^subscription$/, ({ world }) => ok(controls.getSubscription(world) ?? null)),
  post(/^subscription$/, ({ world, input }) => controls.setSubscription(world, input)),
  get(/^faults$/, ({ world }) => ok(controls.getFaults(world))),
  post(/^faults$/, ({ world, input: { seed = 1, ...faults } }) => controls.setFaults(world, faults, seed)),
  get(/^clock$/, ({ world }) => ok(controls.getClock(world))),
  post(/^clock\/advance$/, ({ world, input: { ms } }) => controls.advance(world, ms)),
  get(/^sms$/, ({ world }) => ok(world.state.sms)),
  get(/^users$/, ({ world }) => ok(Array.from(world.state.users.values()))),
  post(/^users\/([^/]+)$/, ({ world, input, ids: [id = ""] }) => changeUser(world, id, input)),
  post(/^tokens\/revoke$/, ({ world }) => ok(revokeTokens(world) ?? null)),
];

export async function answerControl(world: World, problems: FormProblems, call: Call): Promise<Answer> {
  if (!isSameOrigin(call)) return refused(foreignOrigin);
  const path = call.path.slice("/_sandbox/".length);
  if (path === "" && call.method !== "POST") {
    return htmlAnswer(200, controlPage(world, problems.get(call.query.get("problem"))), policy);
  }
  const matching = routes.filter((route) => route.path.test(path));
  const route = matching.find(({ method }) => method === call.method);
  if (route === undefined) return unknown(call, matching);
  const form = isForm(call) && call.body.length > 0;
  const input = form ? readControlForm(path, readForm(call)) : readInput(call);
  const ids = route.path.exec(path)?.slice(1) ?? [];
  const made: Made = input.ok
    ? await route.run({ world, input: input.value, ids, query: call.query })
    : { granted: input };
  world.state.commit();
  return form ? answerForm(problems, call, path, made) : answerJson(made.granted);
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; form-action 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

const foreignOrigin = {
  status: 403,
  message: "ForeignOrigin",
  detail: "Another site's page may not control the sandbox.",
};

/** A form of another site could reach the loopback address; browsers say where a form comes from. */
function isSameOrigin({ headers }: Call): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === hostOf(host);
}

/** As a browser's `Origin` has it: without a port that goes without saying. */
function hostOf(host = ""): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : host;
}

function unknown(call: Call, matching: readonly ControlRoute[]): Answer {
  if (matching.length > 0) {
    return wrongMethod(
      call,
      matching.map(({ method }) => method),
    );
  }
  const detail = `There is no ${call.path}. See the sandbox's README.`;
  return refused({ status: 404, message: "NotFound", detail });
}

function readInput(call: Call): Granted<Record<string, unknown>> {
  if (call.body.length === 0) return ok({});
  const read = readJson(call);
  if (!read.ok) return read;
  if (typeof read.value === "object" && read.value !== null && !Array.isArray(read.value)) {
    return ok(Object.fromEntries(Object.entries(read.value)));
  }
  return refuseFields({ field: "body", message: "The body must be a JSON object." });
}

function answerJson(granted: Granted<unknown>): Answer {
  if (!granted.ok) return refused(granted.error);
  const envelope = { message: "", status: 200, validationErrors: [], succeeded: true, errors: [] };
  return { status: 200, body: JSON.stringify({ data: granted.value, ...envelope }) };
}

/** On by GET, whatever became of it: a reload repeats no form. */
function answerForm(problems: FormProblems, call: Call, path: string, { granted, next }: Made): Answer {
  if (granted.ok) return redirect(next ?? `/_sandbox/${anchorOf(path)}`);
  const id = problems.add(toProblem(path, readForm(call), granted.error));
  return redirect(`/_sandbox/?problem=${id}${anchorOf(path)}`);
}

function anchorOf(path: string): string {
  const [first = "", id] = path.split("/");
  return first === "contracts" && id?.startsWith("CNT-") ? `#${id}` : `#${first}`;
}

function toFilter(query: URLSearchParams): controls.DeliveryFilter {
  return {
    contractId: query.get("contractId") ?? undefined,
    event: query.get("event") ?? undefined,
    state: query.get("state") ?? undefined,
  };
}

function postAction({ world, input, ids: [id = "", action = ""] }: ControlCall): Granted<SandboxContract> {
  const fields = new Fields(input);
  const milestoneId = fields.optionalInteger("milestoneId");
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  return controls.actOn(world, id, action, milestoneId);
}

/** The API's refund, with a reason for those who press a button. */
function postRefund({ world, input, ids: [id = ""] }: ControlCall): Promise<Granted<SandboxRefund>> {
  return controls.refund(world, id, { reason: "Requested on the control page", ...input });
}
