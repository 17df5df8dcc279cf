import type { SandboxContract, SandboxMilestone } from "../control/truth.ts";
import { isRefundable } from "../service/refund-checks.ts";
import type { World } from "../world/world.ts";
import { problemsAt } from "./form-problem.ts";
import type { FormProblem } from "./form-problem.ts";
import { html } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";
import { amountOf, badge, isolated } from "./parts.ts";

/** A contract with what can be done to it now. */
export function contractCard(
  world: World,
  contract: SandboxContract,
  refused: FormProblem | undefined,
): Markup {
  const { contractId, actions } = contract;
  const refundable = isRefundable(contract) && contract.milestones.length === 0;
  return html`<article class="card" id="${contractId}" aria-labelledby="${contractId}-title">
    <div class="row spread">
      <h3 id="${contractId}-title">${contractId} · ${isolated(contract.title)}</h3>
      <span>${badge(contract.status)} <strong>${amountOf(contract.amountMinor)}</strong></span>
    </div>
    <p class="soft">
      Created
      ${contract.createdAt.slice(0, 19)}Z${contract.reference && html`, reference ${isolated(contract.reference)}`}
      ${checkoutLink(world, contract)}
    </p>
    ${problemsAt(refused, `contracts/${contractId}/`)}
    <div class="row" role="group" aria-label="Actions on ${contractId}">
      ${actions.map((action) => actionForm(contractId, action))}
      ${refundable && actionForm(contractId, "refund")} ${linkForm(world, contract)}
      ${actions.length === 0 && !refundable && whyNoAction(contract)}
    </div>
    ${contract.milestones.length > 0 && milestoneTable(contract)}
  </article>`;
}

function whyNoAction({ status }: SandboxContract): Markup {
  if (status !== "RefundInProgress") return html`<span class="soft">No action is possible now.</span>`;
  return html`<span class="soft">It waits for the bank: <a href="#refunds">settle its refund</a>.</span>`;
}

function linkIsAlive({ state, clock }: World, { contractId }: SandboxContract): boolean {
  return (state.contracts.get(contractId)?.checkout.expiresAtMs ?? 0) > clock.now();
}

function checkoutLink(world: World, contract: SandboxContract): HtmlPart {
  if (contract.checkoutUrl === null || !linkIsAlive(world, contract)) return null;
  return html`· <a href="${contract.checkoutUrl}">Open the checkout page</a>`;
}

/** A dead link can be replaced; to replace one that works would take it away from the buyer. */
function linkForm(world: World, contract: SandboxContract): HtmlPart {
  if (contract.checkoutUrl === null || linkIsAlive(world, contract)) return null;
  return actionForm(contract.contractId, "checkout", undefined, "New payment link");
}

function milestoneTable(contract: SandboxContract): Markup {
  return html`<table class="stacks">
    <thead>
      <tr>
        <th scope="col">Milestone</th>
        <th scope="col">Name</th>
        <th scope="col" class="number">Amount</th>
        <th scope="col">Status</th>
        <th scope="col">Actions</th>
      </tr>
    </thead>
    <tbody>
      ${contract.milestones.map((milestone) => milestoneRow(contract, milestone))}
    </tbody>
  </table>`;
}

function milestoneRow(contract: SandboxContract, milestone: SandboxMilestone): Markup {
  const { milestoneId, actions } = milestone;
  const refundable = milestone.status === "Escrow" && isRefundable(contract);
  return html`<tr>
    <td><span class="narrow">Milestone </span>${milestoneId}</td>
    <td>${isolated(milestone.name)}</td>
    <td class="number">${amountOf(milestone.amountMinor)}</td>
    <td>${badge(milestone.status)}</td>
    <td>
      <div class="row">
        ${actions.map((action) => actionForm(contract.contractId, action, milestoneId))}
        ${refundable && actionForm(contract.contractId, "refund", milestoneId)}
        ${actions.length === 0 && !refundable && html`<span class="soft">no action</span>`}
      </div>
    </td>
  </tr>`;
}

function actionForm(contractId: string, action: string, milestoneId?: string, name?: string): Markup {
  const label = name ?? action.charAt(0).toUpperCase() + action.slice(1);
  const target = milestoneId === undefined ? contractId : `milestone ${milestoneId} of ${contractId}`;
  return html`<form method="post" class="row" action="/_sandbox/contracts/${contractId}/${action}">
    <input type="hidden" name="milestoneId" value="${milestoneId}" />
    <button aria-label="${label} ${target}">${label}</button>
  </form>`;
}
