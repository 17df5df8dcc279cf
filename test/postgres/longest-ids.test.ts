/** Ids as long as they may be, of letters that take the most bytes: no index of Postgres is too small for them. */
import { expect, it } from "vitest";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, targets } from "../support/postgres.ts";

const idUnits = 255;
const letters: readonly (readonly [what: string, letter: (at: number) => number])[] = [
  ["Chinese", (at) => 0x4e00 + ((at * 7919) % 20_000)],
  ["lone surrogates", (at) => 0xd800 + ((at * 131) % 1024)],
  ["both in turn", (at) => (at % 2 === 0 ? 0x4e00 + ((at * 7919) % 20_000) : 0xdc00 + ((at * 131) % 1024))],
];

it.each(
  targets.flatMap(([kind, target]) => letters.map(([what, letter]) => [what, kind, letter, target] as const)),
)(
  "a payment whose every id is 255 of %s is applied over %s, and its neighbours with it",
  async (_what, _kind, letter, target) => {
    let next = 0;
    const longest = (): string => {
      const start = (next += 1009);
      return String.fromCharCode(...Array.from({ length: idUnits }, (_, at) => letter(start + at)));
    };
    const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema() }) });
    const contractId = longest();
    const paid = delivery("payment.completed", {
      id: longest(),
      seconds: 1,
      contractId,
      milestoneId: longest(),
      paymentId: longest(),
      transactionId: longest(),
      invoiceId: longest(),
      disputeId: longest(),
      amount: "12.50",
    });
    const neighbours = [1, 2, 3].map((id) =>
      delivery("contract.created", { id: `e-${id}`, seconds: id, contractId: `CNT-${id}` }),
    );
    const answers = await Promise.all([paid, ...neighbours].map((request) => mirror.receive(request)));
    expect(answers.map(({ status, outcome }) => [status, outcome])).toEqual(
      answers.map(() => [200, "applied"]),
    );
    expect(await mirror.receive(paid)).toMatchObject({ status: 200, outcome: "duplicate" });
    expect((await mirror.payments.list({ contractId })).items).toHaveLength(1);
  },
);
