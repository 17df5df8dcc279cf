import { toSandboxDelivery } from "../world/shown-delivery.ts";
import type { SandboxAttempt, SandboxDelivery } from "../world/shown-delivery.ts";
import type { World } from "../world/world.ts";
import { problemsAt } from "./form-problem.ts";
import type { FormProblem } from "./form-problem.ts";
import { html } from "./html.ts";
import type { Markup } from "./html.ts";
import { badge, countOf } from "./parts.ts";

const deliveriesShown = 100;

/** Every webhook: what was sent, what came back, when the next attempt is due. */
export function deliveriesSection(world: World, refused: FormProblem | undefined): Markup {
  const all = [...world.state.deliveries.values()];
  const shown = all.slice(-deliveriesShown).reverse().map(toSandboxDelivery);
  return html`<section id="deliveries" aria-labelledby="deliveries-title">
    <h2 id="deliveries-title">Webhook deliveries ${countOf(shown.length, all.length)}</h2>
    ${problemsAt(refused, "deliveries/")}
    <div class="card">
      ${shown.length === 0 && html`<p class="soft">Nothing was sent yet.</p>`}
      ${shown.map((delivery) => deliveryEntry(delivery))}
    </div>
  </section>`;
}

function deliveryEntry(delivery: SandboxDelivery): Markup {
  const { webhookId, attempts, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  return html`<details class="delivery" id="d-${webhookId}">
    <summary>
      ${badge(delivery.state)} <strong>${delivery.event}</strong>
      <span
        >${delivery.contractId}${delivery.milestoneId !== null && ` · milestone ${delivery.milestoneId}`}</span
      >
      <span class="soft">${delivery.createdAt.slice(11, 19)}Z</span>
      <span class="soft"
        >${attempts.length}
        ${attempts.length === 1 ? "attempt" : "attempts"}${last && `, last: ${outcomeOf(last)}`}</span
      >
      ${nextAttemptAt !== null && html`<span>next attempt ${nextAttemptAt.slice(0, 19)}Z</span>`}
    </summary>
    ${delivery.reason !== null && html`<p class="soft">${delivery.reason}</p>`}
    <p class="row">
      <span>Webhook id <code>${webhookId}</code></span>
    </p>
    <form method="post" class="row" action="/_sandbox/deliveries/${webhookId}/resend">
      <input type="hidden" name="resend" value="1" />
      <button aria-label="Resend ${delivery.event} ${webhookId}">Resend</button>
    </form>
    <h3>Body, as signed and sent</h3>
    <pre tabindex="0">${delivery.body}</pre>
    ${attempts.map((attempt, index) => attemptEntry(webhookId, attempt, index))}
  </details>`;
}

function outcomeOf(attempt: SandboxAttempt): string {
  return attempt.httpStatus === null ? "no answer" : `HTTP ${attempt.httpStatus}`;
}

function attemptEntry(webhookId: string, attempt: SandboxAttempt, index: number): Markup {
  const headers = Object.entries(attempt.headers).map(([name, value]) => `${name}: ${value}`);
  return html`<details id="d-${webhookId}-${index}">
    <summary>
      Attempt ${attempt.number}${attempt.copy && " (copy)"} at ${attempt.at.slice(0, 23)}Z:
      ${outcomeOf(attempt)} in ${attempt.durationMs} ms
    </summary>
    <pre tabindex="0">${[`POST ${attempt.url}`, ...headers].join("\n")}</pre>
    ${attempt.error !== null && html`<p>${attempt.error}</p>`}
    ${
      attempt.responseBody !== "" &&
      html`<p class="soft">Answer</p>
        <pre tabindex="0">${attempt.responseBody}</pre>`
    }
  </details>`;
}
