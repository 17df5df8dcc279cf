import { listRefunds } from "../control/truth.ts";
import type { SandboxRefund } from "../control/truth.ts";
import type { World } from "../world/world.ts";
import { problemsAt } from "./form-problem.ts";
import type { FormProblem } from "./form-problem.ts";
import { html } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";
import { amountOf, badge, countOf, isolated } from "./parts.ts";

const refundsShown = 50;

/** Every refund with its reason; those that wait for the bank come first. */
export function refundsSection(world: World, refused: FormProblem | undefined): Markup {
  const all = listRefunds(world).reverse();
  const [open, settled] = [true, false].map((waits) =>
    all.filter((one) => (one.state === "initiated") === waits),
  );
  const shown = [...(open ?? []), ...(settled ?? [])].slice(0, refundsShown);
  return html`<section id="refunds" aria-labelledby="refunds-title">
    <h2 id="refunds-title">Refunds ${countOf(shown.length, all.length)}</h2>
    ${problemsAt(refused, "refunds/")}
    <div class="card">
      ${shown.length === 0 && html`<p class="soft">No refund yet.</p>`}
      ${shown.map((refund) => refundEntry(refund))}
    </div>
  </section>`;
}

function refundEntry(refund: SandboxRefund): Markup {
  const { refundId, contractId, milestoneId } = refund;
  return html`<div class="entry">
    <div class="row spread small">
      <span
        >Refund ${refundId} · <a href="#${contractId}">${contractId}</a>${
          milestoneId !== null && ` · milestone ${milestoneId}`
        }
        · ${refund.kind}, ${amountOf(refund.amountMinor)}</span
      >
      ${refund.state === "initiated" ? settleForm(refundId) : badge("settled")}
    </div>
    <p class="soft">Reason: ${isolated(refund.reason)}</p>
  </div>`;
}

function settleForm(refundId: string): HtmlPart {
  return html`<form method="post" class="row" action="/_sandbox/refunds/${refundId}/settle">
    <input type="hidden" name="settle" value="1" />
    <button aria-label="Settle refund ${refundId}">Settle</button>
  </form>`;
}
