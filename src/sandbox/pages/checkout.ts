import { formatHalalas } from "../wire/money.ts";
import { grossOf, priceOfContract } from "../service/pricing.ts";
import type { ContractRecord } from "../world/records.ts";
import { businessNameOf } from "../world/world.ts";
import type { World } from "../world/world.ts";
import { words } from "./checkout-words.ts";
import type { Language } from "./checkout-words.ts";
import { html, page } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";
import { checkoutStyles } from "./styles.ts";

/** The payment page that `checkoutUrl` opens. It works without JavaScript. */
export function checkoutPage(world: World, contract: ContractRecord, language: Language): string {
  const text = words[language];
  const seller = world.state.users.get(contract.seller);
  const { token } = contract.checkout;
  const other = language === "en" ? "ar" : "en";
  const body = html`<main>
    <div class="card">
      <header>
        <p><strong>${businessNameOf(world, contract.business)}</strong></p>
        <a href="?token=${encodeURIComponent(token)}&amp;lang=${other}" lang="${other}" hreflang="${other}"
          >${text.otherLanguage}</a
        >
      </header>
      <h1>${text.checkout}: ${contract.title}</h1>
      ${contract.description && html`<p>${contract.description}</p>`}
      <dl>
        <dt>${text.contract}</dt>
        <dd><bdi class="ltr">${contract.contractId}</bdi></dd>
        ${
          contract.reference &&
          html`<dt>${text.reference}</dt>
            <dd><bdi>${contract.reference}</bdi></dd>`
        }
        <dt>${text.seller}</dt>
        <dd><bdi>${seller?.firstName} ${seller?.lastName}</bdi></dd>
      </dl>
      ${milestoneTable(contract, language)} ${priceTable(world, contract, language)}
      <p class="soft">${text.held}</p>
      ${payForm(world, contract, language)}
      <p class="soft">
        ${text.validUntil}
        <bdi class="ltr"
          >${new Date(contract.checkout.expiresAtMs).toISOString().slice(0, 16).replace("T", " ")} UTC</bdi
        >. ${text.sandbox}
      </p>
    </div>
  </main>`;
  return page({ title: `${text.checkout}: ${contract.title}`, styles: checkoutStyles, body, language });
}

function payForm(world: World, contract: ContractRecord, language: Language): Markup {
  const text = words[language];
  const total = grossOf(priceOfContract(contract, world.settings.fees));
  return html`<form method="post" class="choices">
    <input type="hidden" name="token" value="${contract.checkout.token}" />
    <input type="hidden" name="lang" value="${language}" />
    <button class="primary" name="result" value="success">
      ${text.pay} <bdi class="ltr">${formatHalalas(total)} SAR</bdi>
    </button>
    <button name="result" value="failed">${text.fail}</button>
  </form>`;
}

function milestoneTable(contract: ContractRecord, language: Language): HtmlPart {
  if (contract.milestones.length === 0) return null;
  return html`<table>
    <caption>
      ${words[language].milestones}
    </caption>
    <tbody>
      ${contract.milestones.map((milestone) => row(html`<bdi>${milestone.name}</bdi>`, milestone.amount))}
    </tbody>
  </table>`;
}

function priceTable(world: World, contract: ContractRecord, language: Language): Markup {
  const text = words[language];
  const price = priceOfContract(contract, world.settings.fees);
  return html`<table>
    <caption>
      ${text.order}
    </caption>
    <tbody>
      ${row(text.price, price.amount)} ${row(text.fees, price.escrowFee + price.platformFee)}
      ${row(text.vat, price.escrowFeeTax + price.platformFeeTax)}
    </tbody>
    <tfoot>
      ${row(text.total, grossOf(price))}
    </tfoot>
  </table>`;
}

function row(name: HtmlPart, halalas: number): Markup {
  return html`<tr>
    <th scope="row">${name}</th>
    <td><bdi class="ltr">${formatHalalas(halalas)} SAR</bdi></td>
  </tr>`;
}

export type Notice = "expired" | "paid" | "failed" | "closed" | "unknown";

/** Where the buyer ends who can't pay, or whose contract has no `callbackUrl` to go back to. */
export function noticePage(notice: Notice, language: Language): string {
  const text = words[language];
  const title = text[`${notice}Title`];
  const body = html`<main>
    <div class="card">
      <h1>${title}</h1>
      <p class="notice ${notice === "paid" ? "good" : "warn"}" role="status">${text[notice]}</p>
      ${notice === "expired" && html`<p class="soft">${text.renew}</p>`}
      <p class="soft">${text.sandbox}</p>
    </div>
  </main>`;
  return page({ title, styles: checkoutStyles, body, language });
}

/** What the text messages of §1 and §4.4 link to. */
export function identityPage(world: World, platformRefId: string, done: boolean): string | undefined {
  const user = world.state.users.get(platformRefId);
  if (user === undefined) return undefined;
  const complete = done || (user.authorized && user.bankVerified);
  const body = html`<main>
    <div class="card">
      <h1>Verify your identity</h1>
      <p>${user.firstName} ${user.lastName}, <bdi>${user.phoneNumber}</bdi></p>
      ${
        complete
          ? html`<p class="notice good" role="status">Authorization and bank account are verified.</p>`
          : html`<form method="post" class="choices">
              <button class="primary">Complete the verification</button>
            </form>`
      }
      <p class="soft">${words.en.sandbox}</p>
    </div>
  </main>`;
  return page({ title: "Verify your identity", styles: checkoutStyles, body });
}
