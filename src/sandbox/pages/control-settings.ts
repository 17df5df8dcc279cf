import type { World } from "../world/world.ts";
import { problemsAt, typedOr } from "./form-problem.ts";
import type { FormProblem } from "./form-problem.ts";
import { html } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";
import { badge, countOf } from "./parts.ts";

/** The settings that an integrator copies into the application under test. */
export function connectionCard(world: World): Markup {
  const { settings, state, baseUrl } = world;
  const { clientSecret, webhookSecret } = state.identity;
  const secret = state.subscriptions.get(settings.clientId)?.secretKey ?? webhookSecret;
  return html`<div class="card">
    <h3>Connection</h3>
    <dl>
      <dt>Base URL</dt>
      <dd><code>${baseUrl}</code></dd>
      <dt>Token URL</dt>
      <dd><code>${baseUrl}/connect/token</code></dd>
      <dt>Client id</dt>
      <dd><code>${settings.clientId}</code></dd>
    </dl>
    <details id="secrets">
      <summary>Secrets</summary>
      <dl>
        <dt>Client secret</dt>
        <dd><code>${clientSecret}</code></dd>
        <dt>Webhook secret</dt>
        <dd><code>${secret}</code></dd>
      </dl>
    </details>
  </div>`;
}

export function subscriptionCard(world: World, refused: FormProblem | undefined): Markup {
  const subscription = world.state.subscriptions.get(world.settings.clientId);
  return html`<div class="card" id="subscription">
    <h3>Webhook subscription</h3>
    ${subscription === undefined && html`<p class="soft">None yet: nothing is sent.</p>`}
    ${
      subscription !== undefined &&
      html`<dl>
        <dt>State</dt>
        <dd>${badge(subscription.isActive ? "active" : "disabled")}</dd>
        <dt>Failed in a row</dt>
        <dd>${subscription.consecutiveFailures} of ${world.settings.disableAfter}</dd>
        <dt>Last success</dt>
        <dd>${shownTime(subscription.lastSuccessAt)}</dd>
        <dt>Last failure</dt>
        <dd>${shownTime(subscription.lastFailureAt)}</dd>
      </dl>`
    }
    ${problemsAt(refused, "subscription")}
    <form method="post" action="/_sandbox/subscription">
      <label for="webhookUrl">Webhook URL</label>
      <div class="row">
        <input
          id="webhookUrl"
          name="webhookUrl"
          type="url"
          required
          size="32"
          value="${typedOr(refused, "subscription", "webhookUrl", subscription?.webhookUrl)}"
        />
        <button>${subscription === undefined ? "Subscribe" : "Update and re-enable"}</button>
      </div>
    </form>
  </div>`;
}

function shownTime(at: string | null): string {
  return at === null ? "never" : `${at.slice(0, 19)}Z`;
}

export function clockCard({ clock, settings }: World, refused: FormProblem | undefined): Markup {
  const kind = clock.kind === "manual" ? "stands still until it is moved" : `runs ${clock.speed} × real time`;
  return html`<div class="card" id="clock">
    <h3>Clock</h3>
    <p>
      <strong>${new Date(clock.now()).toISOString().slice(0, 19)}Z</strong>
      <span class="soft">(${kind})</span>
    </p>
    ${problemsAt(refused, "clock/")}
    <form method="post" action="/_sandbox/clock/advance">
      <label for="seconds">Move on by (seconds)</label>
      <div class="row">
        <input
          id="seconds"
          name="seconds"
          type="number"
          min="0"
          max="1000000000"
          value="${typedOr(refused, "clock/advance", "seconds", 10)}"
          required
        />
        <button>Advance</button>
      </div>
    </form>
    <p class="soft">Retries wait ${waitsOf(settings.retryDelaysMs)}.</p>
  </div>`;
}

function waitsOf(delaysMs: readonly number[]): string {
  return delaysMs.map(shownWait).join(", ") || "for nothing: there are none";
}

function shownWait(ms: number): string {
  const [most, unit] = units.find(([size]) => ms >= size && ms % size === 0) ?? [1, "ms"];
  return `${ms / most} ${unit}`;
}

const units = [
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

const smsShown = 10;

/** The text messages, whose links lead to the pages of buyers and sellers. */
export function smsCard({ state }: World): Markup {
  const shown = state.sms.slice(-smsShown).reverse();
  return html`<div class="card wide" id="sms">
    <h3>Text messages ${countOf(shown.length, state.sms.length)}</h3>
    ${shown.length === 0 && html`<p class="soft">None yet. A seller gets one when a contract is created.</p>`}
    ${shown.map(({ to, text }) => html`<p><span class="soft">To ${to}:</span> ${withLink(text)}</p>`)}
  </div>`;
}

function withLink(text: string): HtmlPart {
  const [, before = "", link = ""] = /^(.*?)(http\S+)$/.exec(text) ?? [];
  return html`${before}<a href="${link}">${link}</a>`;
}

const shares = [
  ["duplicate", "Duplicate"],
  ["reorder", "Reorder"],
  ["drop", "Drop"],
  ["corruptSignature", "Wrong signature"],
  ["apiErrors", "API errors"],
  ["cutConnection", "Cut connection"],
  ["slowReads", "Slow reads"],
] as const;

export function faultsCard({ faults }: World, refused: FormProblem | undefined): Markup {
  const now = faults.get();
  const counts = faults.counts();
  const [least, most] = now.delayMs ?? [];
  const typed = (name: string, value: number | undefined) => typedOr(refused, "faults", name, value);
  return html`<div class="card wide" id="faults">
    <h3>Faults</h3>
    ${problemsAt(refused, "faults")}
    <form method="post" action="/_sandbox/faults">
      <div class="fields">
        ${shares.map(([name, label]) =>
          numberField(name, `${label} (0–1), ${counts[name]} so far`, typed(name, now[name]), "0.01", "1"),
        )}
        ${numberField("delayLeast", "Delay from (ms)", typed("delayLeast", least), "1")}
        ${numberField("delayMost", `Delay to (ms), ${counts.delay} so far`, typed("delayMost", most), "1")}
        ${numberField("seed", "Seed", typed("seed", now.seed || 1), "1")}
      </div>
      <p><button>Set the faults</button></p>
    </form>
  </div>`;
}

function numberField(
  name: string,
  label: string,
  value: string | number | undefined,
  step: string,
  max?: string,
): Markup {
  return html`<label class="field"
    >${label}<input name="${name}" type="number" min="0" max="${max}" step="${step}" value="${value}"
  /></label>`;
}
