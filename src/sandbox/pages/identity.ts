import type { UserRecord } from "../world/records.ts";
import { buyerPage } from "./buyer-page.ts";
import { html } from "./html.ts";
import { isolated } from "./parts.ts";
import { words } from "./words.ts";
import type { Language } from "./words.ts";

/** The pages that the text messages link to. */
export function identityPage(user: UserRecord, language: Language): string {
  const text = words[language];
  const title = text.verifyTitle;
  const body = html`<h1>${title}</h1>
    <p>
      ${isolated(`${user.firstName} ${user.lastName}`)}<br /><bdi class="ltr soft">${user.phoneNumber}</bdi>
    </p>
    ${
      user.authorized && user.bankVerified
        ? html`<p class="notice good" role="status">${text.verified}</p>`
        : html`<p>${text.verify}</p>
            <form method="post" class="choices">
              <input type="hidden" name="lang" value="${language}" />
              <button class="primary">${text.verifyButton}</button>
            </form>`
    }`;
  return buyerPage({ title, body, language, query: {} });
}
