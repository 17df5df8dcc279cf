/** Semantics §1.4 with redactions: what they erase is erased, whenever they come, and nothing else differs. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { FoldInput, RedactionInput } from "../../src/domain/input.ts";
import { fold } from "../../src/domain/fold.ts";
import { redact } from "../../src/retention/redact.ts";
import { toIsoTime } from "../../src/shared/clock.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { arrangement, schedule } from "../../src/testing/arbitraries/schedule.ts";
import { rearrange, type StorySchedule } from "../../src/testing/story/schedule.ts";
import { postgresStore } from "../support/postgres.ts";
import { sha256 } from "../support/delivery.ts";
import { law } from "./law.ts";
import { arrivalClock, arrivingAt, folding, openReceiving, type Receiving } from "./receiving.ts";
import {
  clearStore,
  groupByContract,
  isFolded,
  mirroredRows,
  rowsOfStates,
  toFoldInput,
  withinContracts,
} from "./rows.ts";

const redactedMs = Date.UTC(2026, 10, 30);
/** With which batch a contract's redaction is called: in one run, and in the other. */
const moment = fc.record({ first: fc.nat({ max: 20 }), second: fc.nat({ max: 20 }) });
const story = fc.record({
  told: schedule({ manner: "wild", stepsMax: 8, contractsMax: 2, sharedRefundIds: true }),
  otherwise: arrangement(),
  /** By contract; the second may be none. */
  moments: fc.tuple(moment, fc.option(moment, { nil: undefined })),
});

describe("redacted histories", () => {
  let inSqlite: Receiving;
  let inPostgres: Receiving;
  beforeAll(async () => {
    inSqlite = await openReceiving(sqlite(":memory:"));
    inPostgres = await openReceiving(postgresStore());
  });
  afterAll(async () => {
    await inSqlite.store.close();
    await inPostgres.store.close();
  });

  law("any order of arrivals and redactions gives equal rows in memory and SQLite", 0.05, story, (each) =>
    checkConvergence(inSqlite, each),
  );

  law("the same holds in Postgres", 0.01, story, (each) => checkConvergence(inPostgres, each));
});

type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

async function checkConvergence(other: Receiving, { told, otherwise, moments }: Story): Promise<void> {
  const ids = [...new Set(told.distinct.map((each) => toFoldInput(each).facts.contractId))].slice(0, 2);
  const redacted = ids.filter((_, index) => moments[index] !== undefined);
  const inMemory = await openReceiving(createMemoryStore());
  await clearStore(other.store);
  await bring(
    inMemory,
    told,
    redacted.map((id, index) => [id, moments[index]?.first ?? 0]),
  );
  await bring(
    other,
    rearrange(told, otherwise),
    redacted.map((id, index) => [id, moments[index]?.second ?? 0]),
  );
  const rows = await mirroredRows(inMemory.store);
  expect(await mirroredRows(other.store)).toEqual(rows);
  expect(withinContracts(rows)).toEqual(foldedRows(told, redacted));
  for (const each of [inMemory, other]) {
    expect(await payloadsOf(each.store, redacted)).toEqual([]);
    await each.rebuild();
    expect(await mirroredRows(each.store)).toEqual(rows);
  }
}

/** Each redaction is called at once with a batch; with the last where there are fewer. */
async function bring(
  receiving: Receiving,
  { batches }: StorySchedule,
  redactions: readonly (readonly [contractId: string, at: number])[],
): Promise<void> {
  const parts = { store: receiving.store, clock: arrivalClock(), folding };
  for (const [index, batch] of batches.entries()) {
    const now = redactions.filter(([, at]) => Math.min(at, batches.length - 1) === index);
    await Promise.all([
      receiving.deliver({ batches: [batch] }),
      ...now.map(([contractId]) => arrivingAt(redactedMs, () => redact(parts, contractId))),
    ]);
  }
}

function foldedRows({ distinct }: StorySchedule, redacted: readonly string[]) {
  const inputs: FoldInput[] = [...distinct.map(toFoldInput).filter(isFolded), ...redacted.map(redactionOf)];
  return rowsOfStates([...groupByContract(inputs)].map(([id, own]) => fold(id, own, folding)));
}

function redactionOf(contractId: string): RedactionInput {
  const facts = { contractId, orderKey: "", takenAt: null } as const;
  const digest = sha256(`redaction ${contractId}`);
  return { kind: "redaction", digest, receivedAt: toIsoTime(redactedMs), facts };
}

/** What is stored of their bodies. */
async function payloadsOf(store: Receiving["store"], contractIds: readonly string[]): Promise<string[]> {
  return store.read(async (reader) => {
    const deliveries = await reader.lookup("deliveries", "contractId", contractIds);
    const keys = deliveries.map(({ contentKey }) => contentKey);
    return (await reader.lookup("payloads", "contentKey", keys)).map(({ contentKey }) => contentKey);
  });
}
