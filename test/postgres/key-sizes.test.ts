/** No key rests on what ids hold: a row of a btree takes 2,704 bytes at most, or the delivery could never be stored. */
import { beforeAll, describe, expect, it } from "vitest";
import { Client } from "pg";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { createRandom } from "../simulation/random.ts";
import { at, delivery, secret } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";

const rowBytesMax = 2704;
/** The row's own head, and what each of its texts begins with and is padded by. */
const headBytes = 8;
const paddingBytes = 7;
const unitBytes = 5;
/** Seconds, a point and 64 digits. */
const timeBytes = 84;

/** The most bytes that a column can have. Ids and names are 255 units, of which each may be stored as five bytes. */
function bytesMax(column: string, type: string): number {
  if (type !== "text") return type === "bytea" ? 38 : 8;
  // A payload's id that looks like a row id of ours is told by three more characters.
  if (column === "id" || column === "webhook_id") return unitBytes * 258;
  if (column.endsWith("_id") || column === "status" || column === "event") return unitBytes * 255;
  if (column === "payment_key" || column === "dispute_key") return 360;
  if (/(^|_)(at|key)$/.test(column)) return timeBytes;
  // Words of our own, such as a state.
  return 32;
}

interface IndexColumn {
  readonly index: string;
  readonly column: string | null;
  readonly type: string;
}

const columnsOfIndexes = `
  select i.relname as index, a.attname as column, format_type(k.atttypid, null) as type
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    join pg_namespace n on n.oid = t.relnamespace join pg_am m on m.oid = i.relam and m.amname = 'btree'
    join pg_attribute k on k.attrelid = i.oid
    left join pg_attribute a on a.attrelid = t.oid and a.attnum = x.indkey[k.attnum - 1]
  where n.nspname = $1`;

describe("the keys of Postgres's indexes", () => {
  const schema = freshSchema();
  let columns: readonly IndexColumn[] = [];

  beforeAll(async () => {
    const store = postgres({ connectionString: postgresUrl, schema });
    const mirror = await createMirror({ store, webhook: { secrets: secret }, logger: silentLogger });
    await mirror.close();
    const client = new Client({ connectionString: postgresUrl });
    await client.connect();
    columns = (await client.query<IndexColumn>(columnsOfIndexes, [schema])).rows;
    await client.end();
  });

  it("fit into a row whatever the ids hold", () => {
    const sizes = new Map<string, number>();
    for (const { index, column, type } of columns) {
      // An expression, such as the hash of a reference, is as long as its type says.
      const bytes = column === null ? 64 : bytesMax(column, type);
      sizes.set(index, (sizes.get(index) ?? headBytes) + bytes + paddingBytes);
    }
    expect(sizes.size).toBeGreaterThan(15);
    expect([...sizes].filter(([, bytes]) => bytes > rowBytesMax)).toEqual([]);
  });
});

/** 255 units that no compression makes shorter. */
function worstIds(seed: number): () => string {
  const random = createRandom(seed);
  const unit = () => (seed % 2 === 0 ? 0xd800 + random.below(0x400) : 0x4e00 + random.below(0x5000));
  return () => String.fromCharCode(...Array.from({ length: 255 }, unit));
}

describe.each([
  ["CJK ideographs", 1],
  ["lone surrogates", 2],
])("ids of 255 %s", (_, seed) => {
  it("are stored everywhere, and come back whole", async () => {
    const mirror = await openMirror({
      store: postgres({ connectionString: postgresUrl, schema: freshSchema() }),
    });
    const nextId = worstIds(seed);
    const [contractId, milestoneId, status] = [nextId(), nextId(), nextId()];
    const types = [
      "milestone.payment.completed",
      "milestone.disputed",
      "milestone.refund.full-initiated",
      "contract.updated",
      "settlement.reported",
    ];
    for (const [index, type] of types.entries()) {
      const ids = { disputeId: index === 1 ? undefined : nextId(), paymentId: nextId(), invoiceId: nextId() };
      const shape = {
        id: nextId(),
        seconds: index,
        contractId,
        milestoneId,
        transactionId: nextId(),
        ...ids,
      };
      const time = `${at(index).slice(0, 19)}.${"1".repeat(64)}Z`;
      const sent = delivery(type, { ...shape, status, timestamp: time }, { webhookId: nextId() });
      expect(await mirror.receive(sent)).toMatchObject({ status: 200, outcome: "applied" });
    }
    expect(await mirror.contracts.get(contractId)).toMatchObject({ contractId, status });
    expect((await mirror.payments.list({ contractId })).items).toMatchObject([{ milestoneId }]);
    expect((await mirror.disputes.list({ contractId })).items).toMatchObject([{ milestoneId }]);
    expect((await mirror.refunds.list({ contractId })).items).toMatchObject([{ milestoneId }]);
  });
});
