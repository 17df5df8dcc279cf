import { grossOf, priceOfContract } from "../service/pricing.ts";
import type { ContractRecord } from "../world/records.ts";
import { businessNameOf } from "../world/world.ts";
import type { World } from "../world/world.ts";
import { buyerPage } from "./buyer-page.ts";
import { html } from "./html.ts";
import type { HtmlPart, Markup } from "./html.ts";
import { amountOf, isolated, isolatedText } from "./parts.ts";
import { words } from "./words.ts";
import type { Language } from "./words.ts";

/** The payment page that `checkoutUrl` opens. It works without JavaScript. */
export function checkoutPage(world: World, contract: ContractRecord, language: Language): string {
  const text = words[language];
  const { contractId, checkout, title, description } = contract;
  const body = html`<h1>${text.checkout}: ${isolated(title)}</h1>
    ${description && html`<p dir="auto">${description}</p>`} ${facts(world, contract, language)}
    ${milestoneTable(contract, language)} ${priceTable(world, contract, language)}
    <p class="soft">${text.held}</p>
    ${payForm(world, contract, language)}
    <p class="soft">${text.validUntil} <bdi class="ltr">${shownTime(checkout.expiresAtMs)}</bdi></p>`;
  return buyerPage({
    title: `${text.checkout}: ${isolatedText(title)}`,
    contractId,
    head: html`<strong>${isolated(businessNameOf(world, contract.business))}</strong>`,
    body,
    language,
    query: { token: checkout.token },
  });
}

const shownOffsetMs = 3 * 60 * 60 * 1_000;

/** §1: the service converts to UTC+3 for display. */
function shownTime(ms: number): string {
  return `${new Date(ms + shownOffsetMs).toISOString().slice(0, 16).replace("T", " ")} (UTC+3)`;
}

function facts(world: World, { contractId, reference, seller }: ContractRecord, language: Language): Markup {
  const text = words[language];
  const user = world.state.users.get(seller);
  return html`<dl>
    <dt>${text.contract}</dt>
    <dd><bdi class="ltr">${contractId}</bdi></dd>
    ${
      reference &&
      html`<dt>${text.reference}</dt>
        <dd>${isolated(reference)}</dd>`
    }
    <dt>${text.seller}</dt>
    <dd>${isolated(`${user?.firstName} ${user?.lastName}`)}</dd>
  </dl>`;
}

function payForm(world: World, contract: ContractRecord, language: Language): Markup {
  const text = words[language];
  const total = grossOf(priceOfContract(contract, world.settings.fees));
  return html`<form method="post" class="choices">
    <input type="hidden" name="token" value="${contract.checkout.token}" />
    <input type="hidden" name="lang" value="${language}" />
    <button class="primary" name="result" value="success">${text.pay} ${amountOf(total)}</button>
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
      ${contract.milestones.map((milestone) => row(isolated(milestone.name), milestone.amount))}
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
    <td>${amountOf(halalas)}</td>
  </tr>`;
}
