import { html } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";

const good = new Set(["Escrow", "Released", "Completed", "delivered", "active", "Approved"]);
const warn = new Set(["Dispute", "Disputed", "Rejected", "Cancelled", "failed", "dropped", "disabled"]);
warn.add("RefundInProgress");

/** A status as a coloured word; the colour adds nothing that the word does not say. */
export function badge(status: string): Markup {
  const tone = good.has(status) ? "good" : warn.has(status) ? "warn" : "";
  return html`<span class="badge ${tone}">${status}</span>`;
}

export function countOf(shown: number, all: number): HtmlPart {
  return html`<span class="soft">(${shown === all ? all : `latest ${shown} of ${all}`})</span>`;
}
