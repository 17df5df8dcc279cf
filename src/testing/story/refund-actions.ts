/** Refunds of contracts and milestones: they begin, settle, or are given up, in both editions of the service (§4.4, supplement). */
import type { Action } from "./actions.ts";
import type { LifeMove, TrueRefund } from "./life.ts";
import { tell, type Service, type Telling } from "./service.ts";

/** The refunds that can begin or settle now. One refund is under way at a time. */
export function refundActions(service: Service): Action[] {
  return service.active === undefined ? beginnings(service) : settlements(service);
}

/** Steps back, which the machines don't have: the bank refuses, or a contract goes on after a milestone's refund cancelled it. */
export function waysBackFromRefund(service: Service): Action[] {
  if (service.active !== undefined)
    return [{ event: "contract.refund-given-up", run: () => giveUp(service) }];
  if (service.status !== "Cancelled" || !service.cancelledByMilestone) return [];
  return [{ event: "contract.resumed", run: () => resume(service) }];
}

interface Beginning {
  readonly kind: TrueRefund["kind"];
  readonly milestoneId: string | null;
}

/** §4.4: the contract in Escrow or Dispute, the milestone in Escrow; with milestones, the spec refunds only those. */
function beginnings(service: Service): Action[] {
  const { status, milestones, plan } = service;
  if (status !== "Escrow" && status !== "Dispute") return [];
  const ready = [...milestones].filter(([, at]) => at === "Escrow").map(([id]) => id);
  const whole = plan.edition === "earlier" || milestones.size === 0 ? [null] : [];
  const kinds: Beginning["kind"][] = plan.edition === "earlier" ? ["full", "partial"] : ["full"];
  return [...whole, ...ready].flatMap((milestoneId) =>
    kinds.map((kind) => ({
      event: `refund.${kind}-initiated`,
      run: () => begin(service, { kind, milestoneId }, status),
    })),
  );
}

function begin(service: Service, { kind, milestoneId }: Beginning, status: string): void {
  const { plan, refunds } = service;
  const refund: TrueRefund = {
    refundId: nextRefundId(service),
    milestoneId,
    scope: milestoneId === null ? "contract" : "milestone",
    kind,
    state: "initiated",
    amountMinor: kind === "full" ? plan.amountMinor : Math.floor(plan.amountMinor / 3) + 1,
    initiatedBy: service.events.length,
    succeededBy: null,
  };
  service.active = { refund: refunds.length, statusBefore: status };
  refunds.push(refund);
  const own = { milestoneId, from: "Escrow", to: "RefundInProgress" };
  const contract = { milestoneId: null, from: status, to: "RefundInProgress" };
  tell(service, refundTelling(service, refund, "initiated", own, contract));
}

function nextRefundId({ plan, refunds }: Service): string {
  const number = Math.floor(refunds.length / plan.refundsPerId) + 1;
  return `${plan.refundBase ?? plan.number}${String(number).padStart(3, "0")}`;
}

/** The bank has paid. For a contract's own refund the legacy twin comes too, before or after. */
function settlements(service: Service): Action[] {
  const refund = activeRefund(service);
  if (refund === undefined) return [];
  const ends = refund.scope === "milestone" ? [endOf(service)] : endsOf(refund);
  const event = `refund.${refund.kind}-succeeded`;
  const settled = ends.map((end) => ({ event, run: () => settle(service, end) }));
  if (refund.scope === "milestone" || refund.kind === "partial") return settled;
  return [
    ...settled,
    { event, run: () => settleWith(service, settle, tellTwin) },
    { event, run: () => settleWith(service, tellTwin, settle) },
  ];
}

function settleWith(service: Service, ...tellings: readonly ((service: Service) => void)[]): void {
  for (const telling of tellings) telling(service);
}

function endsOf({ kind }: TrueRefund): string[] {
  return kind === "partial" ? ["Refunded", "PartiallyRefunded"] : ["Refunded"];
}

/** The spec cancels the contract (§3). In the earlier edition it goes on while another milestone is left. */
function endOf(service: Service): string {
  if (service.plan.edition === "spec") return "Cancelled";
  const inWork = [...service.milestones.values()].filter((status) => status !== "Refunded").length;
  return inWork > 1 ? (service.active?.statusBefore ?? "Escrow") : "Refunded";
}

function settle(service: Service, end = "Refunded"): void {
  const refund = activeRefund(service);
  if (refund === undefined || service.active === undefined) return;
  service.refunds[service.active.refund] = {
    ...refund,
    state: "succeeded",
    succeededBy: service.events.length,
  };
  const own = { milestoneId: refund.milestoneId, from: "RefundInProgress", to: "Refunded" };
  const contract = { milestoneId: null, from: "RefundInProgress", to: end };
  service.cancelledByMilestone = end === "Cancelled";
  tell(service, refundTelling(service, refund, "succeeded", own, contract));
  service.active = undefined;
}

function tellTwin(service: Service): void {
  tell(service, { event: "contract.refunded", about: null, from: "RefundInProgress", to: "Refunded" });
}

function giveUp(service: Service): void {
  const { active } = service;
  const refund = activeRefund(service);
  if (active === undefined || refund === undefined) return;
  service.active = undefined;
  if (refund.milestoneId !== null)
    tell(service, {
      event: "milestone.refund-given-up",
      about: refund.milestoneId,
      from: "RefundInProgress",
      to: "Escrow",
    });
  tell(service, {
    event: "contract.refund-given-up",
    about: null,
    from: service.status,
    to: active.statusBefore,
  });
}

function resume(service: Service): void {
  service.cancelledByMilestone = false;
  tell(service, { event: "contract.resumed", about: null, from: "Cancelled", to: "Escrow" });
}

function activeRefund({ active, refunds }: Service): TrueRefund | undefined {
  return active && refunds[active.refund];
}

/** The editions differ here: the status is the milestone's (spec), or always the contract's (earlier). */
function refundTelling(
  service: Service,
  refund: TrueRefund,
  phase: "initiated" | "succeeded",
  own: LifeMove,
  contract: LifeMove,
): Telling {
  const { milestoneId, kind, amountMinor, refundId: transactionId } = refund;
  const details = { milestoneId, amountMinor, transactionId };
  const event = `refund.${kind}-${phase}`;
  if (milestoneId === null) return { ...details, event, about: null, from: contract.from, to: contract.to };
  if (service.plan.edition === "spec")
    return {
      ...details,
      event: `milestone.${event}`,
      about: milestoneId,
      from: own.from,
      to: own.to,
      also: contract,
    };
  const spoken = { event, about: null, from: contract.from, to: contract.to };
  return { ...details, ...spoken, milestoneInMetadata: true, also: own };
}
