/** What the log says of a fault that nobody foresaw: which step, what was being done, how the fault is named. Never a value. */
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { delivery } from "../../support/delivery.ts";
import { failing } from "../../support/failing-store.ts";
import { openMirror, recordingLogger, temporaryFile } from "../../support/mirror.ts";

const personal = "sara@example.com";
const sent = () => delivery("contract.created", { id: "e-1", seconds: 0, reference: personal });

/** What the log says, at `error`, of a delivery that a fault meets. */
async function told(store: Store, sabotage: () => unknown): Promise<string[]> {
  const logger = recordingLogger();
  const mirror = await openMirror({ store, logger });
  await mirror.receive(delivery("contract.created", { id: "e-0", seconds: 0, contractId: "CNT-0" }));
  await sabotage();
  expect((await mirror.receive(sent())).status).toBe(503);
  expect(JSON.stringify(logger.lines)).not.toContain(personal);
  return logger.lines
    .filter(({ level, fields }) => level === "error" && fields["code"] !== undefined)
    .map(({ fields, message }) => {
      const { step, code, error, at } = fields;
      return [step, code, error, String(at).replaceAll(/:\d+/g, ""), message].join(" | ");
    });
}

function onFile(sql: string): Promise<string[]> {
  const file = temporaryFile();
  return told(sqlite(file), () => {
    const beside = new Database(file);
    beside.exec(sql);
    beside.close();
  });
}

function onBug(call: string, fault: () => Error): Promise<string[]> {
  const broken = failing(createMemoryStore(), (made) => made === call);
  return told(broken.store, () => {
    broken.fault = fault();
  });
}

const refuse = (table: string, what = `'${personal}'`) =>
  `create trigger poison before insert on escrow_${table} begin select raise(abort, ${what}); end`;

const faults: readonly (readonly [string, () => Promise<string[]>, readonly RegExp[]])[] = [
  [
    "a dropped table",
    () => onFile("drop table escrow_transitions"),
    [
      /^persist \| store-unavailable \| .*no such table: escrow_transitions\): a table or a column of the mirror is missing/,
    ],
  ],
  [
    "a trigger of somebody else's",
    () => onFile(refuse("contracts")),
    [
      /^persist \| internal-error \| SqliteError SQLITE_CONSTRAINT_TRIGGER \| .*storing the changes failed: insert into "?escrow_contracts"? failed \(SqliteError SQLITE_CONSTRAINT_TRIGGER\)$/,
    ],
  ],
  [
    "a trigger that refuses the bytes too",
    () => onFile(refuse("deliveries")),
    [
      /^dedupe \| internal-error .*insert into "?escrow_deliveries/,
      /^persist \| internal-error .*insert into "?escrow_deliveries/,
    ],
  ],
  [
    "a constraint that somebody added",
    () => onFile("create unique index one_only on escrow_contracts (currency)"),
    [
      /^persist \| internal-error \| SqliteError SQLITE_CONSTRAINT_UNIQUE .*insert into "?escrow_contracts"? failed \(SqliteError SQLITE_CONSTRAINT_UNIQUE: UNIQUE constraint failed: /,
    ],
  ],
  [
    "a bug of ours",
    () => onBug("lockContracts", () => new TypeError(`can't read ${personal}`)),
    [
      /^transition \| internal-error \| TypeError \| \(internal-error\.test\.ts\) \| applying an event to its contract failed: TypeError$/,
    ],
  ],
  [
    "something that is thrown and is no error",
    () => onBug("lockContracts", () => personal as unknown as Error),
    [/^transition \| internal-error \| string \| undefined \| .* failed: string$/],
  ],
];

it.each(faults)("names %s by its step, its operation and its class", async (_, tell, expected) => {
  const lines = await tell();
  expect(lines).toHaveLength(expected.length);
  for (const [index, line] of lines.entries()) expect(line).toMatch(expected[index] ?? /never/);
});

it("no two of them read alike", async () => {
  const lines = await Promise.all(faults.map(async ([, tell]) => (await tell()).join("\n")));
  expect(new Set(lines).size).toBe(faults.length);
});
