import { formatHalalas } from "../wire/money.ts";
import { html } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";

const good = new Set(["Escrow", "Released", "Completed", "delivered", "active", "Approved", "settled"]);
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

/** Text of unknown direction, kept from disturbing what stands around it. */
export function isolated(text: string | null | undefined): HtmlPart {
  return html`<bdi>${text}</bdi>`;
}

/** The same where no markup can stand, as in a page's title: between Unicode's isolates. */
export function isolatedText(text: string): string {
  return `\u2068${text}\u2069`;
}

/** `1,143.75 SAR`, left to right on any page. */
export function amountOf(halalas: number): Markup {
  const grouped = formatHalalas(halalas).replaceAll(/\B(?=(\d{3})+\.)/g, ",");
  return html`<bdi class="ltr">${grouped} SAR</bdi>`;
}
