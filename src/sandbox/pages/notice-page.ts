import type { ContractRecord } from "../world/records.ts";
import { buyerPage } from "./buyer-page.ts";
import { html } from "./html.ts";
import type { HtmlPart } from "./html.ts";
import { words } from "./words.ts";
import type { Language, Notice } from "./words.ts";

/** The end of a buyer's way, and how to go on. `query` is what stands in the address now. */
export function noticePage(
  notice: Notice,
  language: Language,
  query: Readonly<Record<string, string>>,
  contract?: ContractRecord,
): string {
  const { [notice]: said } = words[language].notices;
  const body = html`<h1>${said.title}</h1>
    <p class="notice ${notice === "paid" ? "good" : "warn"}" role="status">${said.text}</p>
    ${wayOn(notice, language, query)}`;
  return buyerPage({ title: said.title, contractId: contract?.contractId, body, language, query });
}

function wayOn(
  notice: Notice,
  language: Language,
  { token = "" }: Readonly<Record<string, string>>,
): HtmlPart {
  const { renew, tryAgain } = words[language];
  if (notice === "expired") {
    const endpoint = html`<code class="ltr">POST /apps/api/contracts/checkout</code>`;
    return html`<p class="soft">${renew[0]} ${endpoint}${renew[1]}</p>`;
  }
  if (notice !== "failed") return null;
  const again = String(new URLSearchParams({ token, lang: language }));
  return html`<p><a class="button" href="?${again}">${tryAgain}</a></p>`;
}
