import * as fc from "fast-check";
import type { Sandbox } from "../../../src/sandbox.ts";
import { deviationOf } from "./check.ts";
import type { Answer } from "./check.ts";
import { operationOf } from "./document.ts";
import { mutatedPlans, validPlans, writeBody } from "./requests.ts";
import type { Known, Plan, Request } from "./requests.ts";

/** What stands between the sandbox and the check: a planted deviation. */
export type Tamper = (operation: string, answer: Answer, request: Request) => Answer;

export interface Campaign {
  /** Rounds of every operation; in half of them a request is changed for the worse. */
  run(rounds: number, tamper?: Tamper): Promise<void>;
  /** Requests and successes of each operation. */
  readonly counts: Map<string, { sent: number; succeeded: number }>;
}

/** In an order in which one answer gives the next request its ids. */
const order = [
  "createToken",
  "saveWebhook",
  "getWebhook",
  "createUser",
  "getOnboarding",
  "createContract",
  "renewCheckout",
  "getContract",
  "createRefund",
  "sendTestWebhook",
  "getWebhookLogs",
  "regenerateSecret",
  "deleteWebhook",
] as const;

/** What a payment page, a bank and the parties do between two requests. */
const acts = ["approve", "reject", "cancel", "pay", "pay", "pay", "release", "dispute", "complete"] as const;

interface Round {
  readonly plans: readonly Plan[];
  readonly act: (typeof acts)[number];
  readonly onMilestone: boolean;
  readonly settle: boolean;
}

export function startCampaign(sandbox: Sandbox, origin: string, seed: number): Campaign {
  const counts = new Map(order.map((id) => [id as string, { sent: 0, succeeded: 0 }]));
  const known = new Knowledge(sandbox);
  const plans = order.map((id) => fc.oneof(validPlans(id, origin), mutatedPlans(id, origin)));
  const rounds = fc.record<Round>({
    plans: fc.tuple(...plans),
    act: fc.constantFrom(...acts),
    onMilestone: fc.boolean(),
    settle: fc.boolean(),
  });

  const send = async (id: string, plan: Plan, tamper: Tamper): Promise<void> => {
    const request = plan(await known.now());
    const answer = await fetchAnswer(sandbox.baseUrl, request);
    const count = counts.get(id) ?? { sent: 0, succeeded: 0 };
    counts.set(id, { sent: count.sent + 1, succeeded: count.succeeded + (answer.status === 200 ? 1 : 0) });
    known.learn(id, request, answer);
    const deviation = deviationOf(operationOf(id), request, tamper(id, answer, request));
    if (deviation !== undefined) throw new Error(`${id}: ${deviation}`);
  };

  const play = async ({ plans: each, act, onMilestone, settle }: Round, tamper: Tamper): Promise<void> => {
    for (const [index, plan] of each.entries()) {
      const id = order[index] ?? order[0];
      if (id === "createRefund") await known.live(act, onMilestone);
      await send(id, plan, tamper);
      if (id === "createRefund" && settle) await known.settle();
    }
  };

  const run = async (numRuns: number, tamper: Tamper = (_, answer) => answer): Promise<void> => {
    const property = fc.asyncProperty(rounds, (round) => play(round, tamper));
    // A shrunk round would meet another state: the failure itself says what was wrong.
    const { failed, errorInstance } = await fc.check(property, { numRuns, seed, endOnFailure: true });
    if (failed) throw errorInstance;
  };
  return { run, counts };
}

async function fetchAnswer(baseUrl: string, request: Request): Promise<Answer> {
  const query = new URLSearchParams(request.query).toString();
  const body = request.method === "GET" ? undefined : writeBody(request);
  const response = await fetch(`${baseUrl}${request.path}${query === "" ? "" : `?${query}`}`, {
    method: request.method,
    redirect: "manual",
    headers: {
      ...(request.authorization === undefined ? {} : { authorization: request.authorization }),
      // Without one, fetch would name text/plain.
      ...(body === undefined ? {} : { "content-type": request.contentType ?? "application/octet-stream" }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const contentType = response.headers.get("content-type") ?? "";
  return { status: response.status, contentType, text: await response.text() };
}

interface Told {
  readonly data?: {
    readonly contractId?: string;
    readonly refundId?: number;
    readonly platformRefId?: string;
  };
}

/** What the answers so far told. */
class Knowledge {
  readonly #sandbox: Sandbox;
  #token: string | undefined;
  #contractId = "CNT-2601-99999999";
  #refundId: number | undefined;
  #platformRefId: string | undefined;
  #userPhone = "+966500000001";

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  async now(): Promise<Known> {
    const contract = await this.#sandbox.contracts.get(this.#contractId);
    const [milestone] = contract?.milestones ?? [];
    const users = await this.#sandbox.users.list();
    const { clientId: client_id, clientSecret: client_secret } = this.#sandbox;
    return {
      token: this.#token ?? "no token yet: longer than 20 characters",
      credentials: { client_id, client_secret },
      contractId: this.#contractId,
      milestoneId: milestone === undefined ? undefined : Number(milestone.milestoneId),
      buyerPhone:
        users.find(({ platformRefId }) => platformRefId === contract?.buyer)?.phoneNumber ?? this.#userPhone,
      userPhone: this.#userPhone,
      platformRefId: this.#platformRefId,
    };
  }

  learn(id: string, { body }: Request, { status, text }: Answer): void {
    if (status !== 200) return;
    const { data, ...rest } = JSON.parse(text) as Told & { readonly access_token?: string };
    if (id === "createToken") this.#token = rest.access_token;
    if (id === "createContract") this.#contractId = data?.contractId ?? this.#contractId;
    if (id === "createRefund") this.#refundId = data?.refundId;
    if (id !== "createUser") return;
    this.#platformRefId = data?.platformRefId;
    this.#userPhone = (body as { readonly phoneNumber: string }).phoneNumber;
  }

  /** Whatever the present state allows of it. */
  async live(act: Round["act"], onMilestone: boolean): Promise<void> {
    const { milestoneId } = await this.now();
    const on = onMilestone && milestoneId !== undefined ? { milestoneId } : {};
    await this.#sandbox.act(this.#contractId, act, on).catch(() => undefined);
  }

  async settle(): Promise<void> {
    if (this.#refundId !== undefined) await this.#sandbox.settleRefund(this.#refundId).catch(() => undefined);
    this.#refundId = undefined;
  }
}
