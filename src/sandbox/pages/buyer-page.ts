import { html, page } from "./html.ts";
import type { HtmlPart } from "./html.ts";
import { checkoutStyles } from "./styles.ts";
import { words } from "./words.ts";
import type { Language } from "./words.ts";

/** A buyer's page: a card, with a way into the other language and to the control page. */
export function buyerPage(options: {
  title: string;
  /** Of the control page: where the contract stands. */
  contractId?: string | undefined;
  /** Left of the language link. */
  head?: HtmlPart;
  body: HtmlPart;
  language: Language;
  /** The present text of the address. */
  query: Readonly<Record<string, string>>;
}): string {
  const { title, contractId, head, body, language, query } = options;
  const text = words[language];
  const other = language === "en" ? "ar" : "en";
  const otherQuery = String(new URLSearchParams({ ...query, lang: other }));
  const card = html`<main>
    <div class="card">
      <header>
        <p>${head}</p>
        <a href="?${otherQuery}" lang="${other}" hreflang="${other}">${text.otherLanguage}</a>
      </header>
      ${body}
    </div>
    <p class="soft foot">
      ${text.sandbox}<br /><a href="/_sandbox/${contractId && `#${contractId}`}"
        >${text.controlPage}${contractId && html`: <bdi class="ltr">${contractId}</bdi>`}</a
      >
    </p>
  </main>`;
  return page({ title, styles: checkoutStyles, body: card, language });
}
