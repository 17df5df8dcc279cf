import { listContracts } from "../control/truth.ts";
import type { World } from "../world/world.ts";
import { contractCard } from "./control-contract.ts";
import { deliveriesSection } from "./control-deliveries.ts";
import { refundsSection } from "./control-refunds.ts";
import { controlScript } from "./control-script.ts";
import { clockCard, connectionCard, faultsCard, smsCard, subscriptionCard } from "./control-settings.ts";
import { problemsAt } from "./form-problem.ts";
import type { FormProblem } from "./form-problem.ts";
import { html, page } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";
import { countOf } from "./parts.ts";
import { controlStyles } from "./styles.ts";

/** Above it a page would take longer to read than to draw; the API has them all. */
const contractsShown = 50;

/** The page on which a person does what code does with `sandbox.act` and `/_sandbox/…`. Works without JavaScript. */
export function controlPage(world: World, refused: FormProblem | undefined): string {
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
      ${contractsSection(world, refused)} ${refundsSection(world, refused)}
      ${deliveriesSection(world, refused)}
      <section id="settings" aria-labelledby="settings-title">
        <h2 id="settings-title">Settings</h2>
        <div class="grid">
          ${connectionCard(world)} ${subscriptionCard(world, refused)} ${clockCard(world, refused)}
          ${faultsCard(world, refused)} ${smsCard(world)}
        </div>
      </section>
    </main>`;
  return page({ title: "Escrow sandbox", styles: controlStyles, body, script: controlScript });
}

function contractsSection(world: World, refused: FormProblem | undefined): Markup {
  const all = listContracts(world);
  const shown = all.slice(-contractsShown).reverse();
  const isShown = shown.some(({ contractId }) => refused?.path.startsWith(`contracts/${contractId}/`));
  return html`<section id="contracts" aria-labelledby="contracts-title">
    <div class="row spread">
      <h2 id="contracts-title">Contracts ${countOf(shown.length, all.length)}</h2>
      ${shown.length > 0 && exampleForm()}
    </div>
    ${!isShown && problemsAt(refused, "contracts/")} ${shown.length === 0 && noContract()}
    ${shown.map((contract) => contractCard(world, contract, refused))}
  </section>`;
}

function noContract(): HtmlPart {
  return html`<div class="card">
    <p>No contract yet. Your application creates one with <code>POST /apps/api/contracts</code>.</p>
    <p class="soft">To look around first, take an example: a website in two milestones, 1000 SAR.</p>
    ${exampleForm()}
  </div>`;
}

function exampleForm(): HtmlPart {
  return html`<form method="post" class="row" action="/_sandbox/contracts/example">
    <input type="hidden" name="example" value="1" />
    <button>Create an example contract</button>
  </form>`;
}
