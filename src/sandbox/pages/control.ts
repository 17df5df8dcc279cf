import { formatHalalas } from "../wire/money.ts";
import { listContracts, listRefunds } from "../control/truth.ts";
import type { SandboxContract, SandboxMilestone } from "../control/truth.ts";
import type { World } from "../world/world.ts";
import { controlScript } from "./control-script.ts";
import { deliveriesSection } from "./control-deliveries.ts";
import { clockCard, connectionCard, faultsCard, subscriptionCard } from "./control-settings.ts";
import { html, page } from "./html.ts";
import type { Markup } from "./html.ts";
import { badge, countOf } from "./parts.ts";
import { controlStyles } from "./styles.ts";

/** Above it a page would take longer to read than to draw; the API has them all. */
const contractsShown = 50;

/** The page on which a person does what code does with `sandbox.act` and `/_sandbox/…`. Works without JavaScript. */
export function controlPage(world: World, problem: string | undefined): string {
  const body = html`<header>
      <div>
        <h1>Escrow sandbox</h1>
        <p class="soft"><code>${world.baseUrl}</code></p>
      </div>
      <nav aria-label="Sections">
        <a href="#contracts">Contracts</a> <a href="#refunds">Refunds</a> <a href="#deliveries">Deliveries</a>
        <a href="#settings">Settings</a>
      </nav>
      <label class="row"><input type="checkbox" id="follow" checked /> Follow changes</label>
    </header>
    <main id="content" data-version="${world.state.version}">
      ${problem !== undefined && html`<p class="notice warn" role="alert">${problem}</p>`}
      ${contractsSection(world)} ${refundsSection(world)} ${deliveriesSection(world)}
      <section id="settings" aria-labelledby="settings-title">
        <h2 id="settings-title">Settings</h2>
        <div class="grid">
          ${connectionCard(world)} ${subscriptionCard(world)} ${clockCard(world)} ${faultsCard(world)}
        </div>
      </section>
    </main>`;
  return page({ title: "Escrow sandbox", styles: controlStyles, body, script: controlScript });
}

function contractsSection(world: World): Markup {
  const all = listContracts(world);
  const shown = all.slice(-contractsShown).reverse();
  return html`<section id="contracts" aria-labelledby="contracts-title">
    <h2 id="contracts-title">Contracts ${countOf(shown.length, all.length)}</h2>
    ${shown.length === 0 && html`<p class="card soft">No contract yet. Create one: POST /apps/api/contracts.</p>`}
    ${shown.map((contract) => contractCard(world, contract))}
  </section>`;
}

function contractCard(world: World, contract: SandboxContract): Markup {
  const { contractId, actions } = contract;
  const record = world.state.contracts.get(contractId);
  const payable = actions.includes("pay") && record !== undefined;
  const refundable = ["Escrow", "Dispute"].includes(contract.status) && contract.milestones.length === 0;
  return html`<article class="card" id="${contractId}" aria-labelledby="${contractId}-title">
    <div class="row spread">
      <h3 id="${contractId}-title">${contractId} · ${contract.title}</h3>
      <span>${badge(contract.status)} <strong>${formatHalalas(contract.amountMinor)} SAR</strong></span>
    </div>
    <p class="soft">
      Created
      ${contract.createdAt.slice(0, 19)}Z${contract.reference && html`, reference <bdi>${contract.reference}</bdi>`}
      ${payable && html`· <a href="/checkout/${contractId}?token=${record.checkout.token}">Open the checkout page</a>`}
    </p>
    <div class="row" role="group" aria-label="Actions on ${contractId}">
      ${actions.map((action) => actionForm(contractId, action))}
      ${refundable && actionForm(contractId, "refund")}
      ${actions.length === 0 && !refundable && html`<span class="soft">No action is possible now.</span>`}
    </div>
    ${contract.milestones.length > 0 && milestoneTable(contract)}
  </article>`;
}

function milestoneTable(contract: SandboxContract): Markup {
  return html`<div class="scroll">
    <table>
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
    </table>
  </div>`;
}

function milestoneRow(contract: SandboxContract, milestone: SandboxMilestone): Markup {
  const { milestoneId, actions } = milestone;
  const refundable = milestone.status === "Escrow" && ["Escrow", "Dispute"].includes(contract.status);
  return html`<tr>
    <td>${milestoneId}</td>
    <td><bdi>${milestone.name}</bdi></td>
    <td class="number">${formatHalalas(milestone.amountMinor)} SAR</td>
    <td>${badge(milestone.status)}</td>
    <td>
      <div class="row">
        ${actions.map((action) => actionForm(contract.contractId, action, milestoneId))}
        ${refundable && actionForm(contract.contractId, "refund", milestoneId)}
        ${actions.length === 0 && !refundable && html`<span class="soft">none</span>`}
      </div>
    </td>
  </tr>`;
}

function actionForm(contractId: string, action: string, milestoneId?: string): Markup {
  const label = action.charAt(0).toUpperCase() + action.slice(1);
  const target = milestoneId === undefined ? contractId : `milestone ${milestoneId} of ${contractId}`;
  return html`<form method="post" class="row" action="/_sandbox/contracts/${contractId}/${action}">
    <input type="hidden" name="milestoneId" value="${milestoneId}" />
    <button aria-label="${label} ${target}">${label}</button>
  </form>`;
}

function refundsSection(world: World): Markup {
  const all = listRefunds(world);
  const open = all.filter(({ state }) => state === "initiated");
  const settled = all.length - open.length;
  return html`<section id="refunds" aria-labelledby="refunds-title">
    <h2 id="refunds-title">
      Refunds to settle <span class="soft">(${open.length}; ${settled} settled)</span>
    </h2>
    <div class="card">
      ${open.length === 0 && html`<p class="soft">No refund waits for the bank.</p>`}
      ${open.slice(-contractsShown).map(
        (refund) =>
          html`<div class="row spread small">
            <span
              >Refund ${refund.refundId} · <a href="#${refund.contractId}">${refund.contractId}</a>${
                refund.milestoneId !== null && ` · milestone ${refund.milestoneId}`
              }
              · ${formatHalalas(refund.amountMinor)} SAR (${refund.kind})</span
            >
            <form method="post" class="row" action="/_sandbox/refunds/${refund.refundId}/settle">
              <input type="hidden" name="settle" value="1" />
              <button aria-label="Settle refund ${refund.refundId}">Settle</button>
            </form>
          </div>`,
      )}
    </div>
  </section>`;
}
