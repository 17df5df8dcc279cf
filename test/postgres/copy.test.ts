import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { copyStore, type CopyProgress } from "../../src/copy/copy-store.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { ReceiveRequest } from "../../src/receiver/request.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { mirroredRows } from "../property/rows.ts";
import { law } from "../property/law.ts";
import { openReceiving } from "../property/receiving.ts";
import * as fc from "fast-check";
import { tables, type TableName } from "../../src/store/tables.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { arrangement, schedule } from "../../src/testing/arbitraries/schedule.ts";
import { rearrange } from "../../src/testing/story/schedule.ts";
import { bundleCommand } from "../support/children/bundle.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, storeKinds, temporaryFile } from "../support/mirror.ts";
import { freshSchema, postgresStore, postgresUrl, run } from "../support/postgres.ts";

async function escrowMirror(...values: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, DATABASE_URL: postgresUrl };
  try {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [await bundleCommand(), ...values],
      { env },
    );
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

async function receiveInto(store: Store, deliveries: readonly ReceiveRequest[]): Promise<Mirror> {
  const mirror = await openMirror({ store });
  for (const each of deliveries) expect((await mirror.receive(each)).status).toBe(200);
  return mirror;
}

describe("escrow-mirror copy", () => {
  it("moves a mirror from SQLite to Postgres, compares both, and can be run again for what came meanwhile", async () => {
    const file = temporaryFile();
    const schema = freshSchema();
    const schedules = fc.sample(schedule({ manner: "wild", contractsMax: 4, sharedRefundIds: true }), {
      numRuns: 2,
      seed: 7,
    });
    const source = await openReceiving(sqlite(file));
    for (const each of schedules) {
      await source.deliver(each);
      const { code, output } = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", schema);
      expect(output).not.toMatch(/DIFFERS|error/);
      expect(code).toBe(0);
      expect(output).not.toContain(new URL(postgresUrl).password);
    }
    const target = await openReceiving(postgres({ connectionString: postgresUrl, schema }));
    expect(await mirroredRows(target.store)).toEqual(await mirroredRows(source.store));
    await target.store.close();
    await source.store.close();
  });

  it("says that the two differ when the target has more", async () => {
    const file = temporaryFile();
    const schema = freshSchema();
    await (await openReceiving(sqlite(file))).store.close();
    expect((await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", schema)).code).toBe(0);
    await run(`insert into "${schema}".secrets (fingerprint, secret_id, verified_at) values ('f', 's', '')`);
    const { code, output } = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", schema);
    expect(code).toBe(1);
    expect(output).toMatch(/DIFFERS\s+secrets/);
  });
});

describe("copying", () => {
  it("goes on where it was interrupted, and writes again what changed meanwhile", async () => {
    const source = await openReceiving(sqlite(":memory:"));
    const schema = freshSchema();
    const target = await openReceiving(
      postgres({ connectionString: postgresUrl, schema, partition: "month" }),
    );
    for (const each of fc.sample(schedule({ manner: "wild", contractsMax: 6 }), { numRuns: 4, seed: 11 }))
      await source.deliver(each);
    const copied = new Map<string, number>();
    const count = (progress: CopyProgress): void => {
      if (progress.doing === "copying") copied.set(progress.table, progress.rows);
    };
    const stopping = copyStore(source.store, target.store, {
      pageRows: 5,
      onProgress: ({ table, rows }) => {
        if (table === "deliveries" && rows >= 10) throw new Error("stopped");
      },
    });
    await expect(stopping).rejects.toThrow("stopped");
    const goOn = () => copyStore(source.store, target.store, { pageRows: 5, onProgress: count });
    const compared = await goOn();
    expect(compared.filter(({ equal }) => !equal)).toEqual([]);
    const deliveries = compared.find(({ table }) => table === "deliveries")?.rows ?? 0;
    expect(copied.get("deliveries")).toBe(deliveries - 10);

    copied.clear();
    await source.store.transaction(async (tx) => {
      const [first] = await tx.find("deliveries", { orderBy: ["seq"], limit: 1 });
      await tx.updateEach("deliveries", "id", [{ id: first?.id ?? "", attempts: 99 }]);
      const [last] = await tx.find("deliveries", { orderBy: ["seq"], descending: true, limit: 1 });
      await tx.updateEach("deliveries", "contentKey", [
        { contentKey: last?.contentKey ?? "", id: "released" },
      ]);
      const [gone] = await tx.find("transitions", { orderBy: ["contractId"], descending: true, limit: 1 });
      await tx.remove("transitions", [{ field: "contractId", op: "=", value: gone?.contractId ?? "" }]);
    });
    expect((await goOn()).filter(({ equal }) => !equal)).toEqual([]);
    expect([...copied.keys()]).toEqual(["deliveries", "transitions"]);
    expect(await mirroredRows(target.store)).toEqual(await mirroredRows(source.store));
    await source.store.transaction((tx) =>
      tx.remove("payloads", [{ field: "receivedAt", op: ">=", value: "" }]),
    );
    copied.clear();
    expect((await goOn()).filter(({ equal }) => !equal)).toEqual([]);
    expect(await run(`select count(*)::int as rows from "${schema}".payloads`)).toEqual([{ rows: 0 }]);
    await target.store.close();
    await source.store.close();
  });

  it("lets the event loop turn, between two stores that wait for nothing too", async () => {
    const [source, target] = [sqlite(":memory:"), sqlite(":memory:")];
    const deliveries = Array.from({ length: 1500 }, (_, n) =>
      delivery("contract.created", { id: `p-${n}`, contractId: `CNT-${n % 100}`, seconds: n }),
    );
    await receiveInto(source, deliveries);
    await openMirror({ store: target });
    let turns = 0;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const compared = await copyStore(source, target);
    clearImmediate(next);
    expect(compared.every(({ equal }) => equal)).toBe(true);
    expect(turns).toBeGreaterThan(1);
  });

  it("writes no more than 200 rows in one transaction, of payloads no more than 32, and reads no more at once", async () => {
    const [source, target] = [sqlite(":memory:"), sqlite(":memory:")];
    const deliveries = Array.from({ length: 450 }, (_, n) =>
      delivery("contract.created", { id: `p-${n}`, contractId: `CNT-${n}`, seconds: n }),
    );
    await receiveInto(source, deliveries);
    await openMirror({ store: target });
    const steps = { read: new Map<TableName, number>(), written: new Map<TableName, number>() };
    await copyStore(measuring(source, steps), measuring(target, steps));
    for (const largest of Object.values(steps)) {
      expect(largest.get("deliveries")).toBe(200);
      expect(largest.get("payloads")).toBe(32);
      expect(Math.max(...largest.values())).toBe(200);
    }
  });

  it("takes out of the target what the source has no more: workers that ended, jobs that went", async () => {
    const [source, target] = [sqlite(":memory:"), sqlite(":memory:")];
    const mirror = await receiveInto(source, []);
    mirror.on("*", async () => undefined, { name: "one" });
    await mirror.receive(delivery("contract.created"));
    await mirror.idle();
    await openMirror({ store: target });
    await copyStore(source, target);
    await source.transaction(async (tx) => {
      for (const table of ["jobs", "workers", "subscriptions"] as const) await tx.remove(table, []);
    });
    const compared = await copyStore(source, target);
    expect(compared.filter(({ equal }) => !equal)).toEqual([]);
  });

  it.each([...storeKinds, ["Postgres", postgresStore] as const])(
    "%s: what handlers are owed goes along, in its order, and runs there once",
    async (_, open) => {
      const [source, target] = [sqlite(":memory:"), open()];
      const mirror = await openMirror({ store: source, jobs: { run: false } });
      const off = mirror.on("*", () => undefined, { name: "one" });
      await mirror.idle();
      for (const [seconds, type] of ["contract.created", "contract.approved", "contract.released"].entries())
        await mirror.receive(delivery(type, { id: type, seconds }));
      off();
      await openMirror({ store: target, jobs: { run: false } });
      expect((await copyStore(source, target)).every(({ equal }) => equal)).toBe(true);
      const moved = await openMirror({ store: target, jobs: { run: false } });
      const seen: string[] = [];
      moved.on("*", ({ event }) => void seen.push(event), { name: "one" });
      await moved.jobs.runOnce();
      expect(seen).toEqual(["contract.created", "contract.approved", "contract.released"]);
      await expect(copyStore(source, target)).rejects.toMatchObject({
        code: "invalid-configuration",
        message: expect.stringMatching(/has run jobs of its own, such as one of the handler one/) as string,
      });
    },
  );

  it.each([...storeKinds, ["Postgres", postgresStore] as const])(
    "%s: a handler that still goes through older deliveries goes on there where it stood, though numbers differ",
    async (_, open) => {
      const [source, target] = [sqlite(":memory:"), open()];
      const mirror = await openMirror({ store: source, jobs: { run: false } });
      // Numbers that are gone make those of the source run ahead.
      for (const id of ["x", "y", "z", "a", "b", "c"])
        await mirror.receive(delivery("contract.created", { id, seconds: 0, contractId: `CNT-${id}` }));
      await source.transaction(async (tx) => {
        const where = [{ field: "seq", op: "<=", value: 3 }] as const;
        const gone = await tx.find("deliveries", { where });
        for (const { contentKey } of gone)
          await tx.remove("payloads", [{ field: "contentKey", op: "=", value: contentKey }]);
        await tx.remove("deliveries", where);
        const subscription = { name: "one", kind: "event", filter: { events: ["*"] } } as const;
        await tx.insert("subscriptions", [
          { ...subscription, cursor: 4, createdAt: new Date(0).toISOString() },
        ]);
      });
      await openMirror({ store: target, jobs: { run: false } });
      const compared = await copyStore(source, target);
      expect(compared.filter(({ equal }) => !equal)).toEqual([]);
      const moved = await openMirror({ store: target, jobs: { run: false } });
      const seen: string[] = [];
      moved.on("*", ({ contractId }) => void seen.push(contractId), { name: "one" });
      await moved.idle();
      await moved.jobs.runOnce();
      expect(seen.sort()).toEqual(["CNT-b", "CNT-c"]);
    },
  );

  law(
    "makes a target that received the same in another order as its source is",
    0.02,
    fc.tuple(schedule({ manner: "wild", contractsMax: 3, sharedRefundIds: true }), arrangement()),
    async ([told, arranged]) => {
      const source = await openReceiving(createMemoryStore());
      const target = await openReceiving(sqlite(":memory:"));
      await source.deliver(told);
      await target.deliver(rearrange(told, { ...arranged, repeats: [] }));
      const compared = await copyStore(source.store, target.store, { pageRows: 5 });
      expect(compared.filter(({ equal }) => !equal)).toEqual([]);
      expect(await mirroredRows(target.store)).toEqual(await mirroredRows(source.store));
      await target.store.close();
      await source.store.close();
    },
  );

  const contradicting = [
    ["one webhook id", { webhookId: "wh-1" }, {}],
    ["one payload id", {}, { id: "p-1" }],
  ] as const;
  const contradictions = [...storeKinds, ["Postgres", postgresStore] as const].flatMap(([kind, open]) =>
    contradicting.map(([what, send, shape]) => {
      const types = ["contract.created", "contract.approved"];
      const deliveries = types.map((type, seconds) => delivery(type, { ...shape, seconds }, send));
      return { kind, open, what, deliveries };
    }),
  );

  it.each(contradictions)(
    "$kind: refuses a target that applied the other of two of $what, for that would be taken back",
    async ({ open, deliveries }) => {
      const [source, target] = [createMemoryStore(), open()];
      await receiveInto(source, deliveries);
      await receiveInto(target, deliveries.toReversed());
      await expect(copyStore(source, target)).rejects.toMatchObject({ code: "invalid-configuration" });
    },
  );

  it.each(contradictions)(
    "$kind: follows a source that released the other of two of $what",
    async ({ open, deliveries }) => {
      const [source, target] = [createMemoryStore(), open()];
      await receiveInto(target, deliveries);
      const mirror = await receiveInto(source, deliveries);
      for (const { id } of (await mirror.deliveries.list()).items.filter(
        ({ outcome }) => outcome !== "applied",
      ))
        await mirror.quarantine.release(id);
      const compared = await copyStore(source, target);
      expect(compared.filter(({ equal }) => !equal)).toEqual([]);
    },
  );

  it.each(["attempts", "outcome"] as const)(
    "refuses a target where a delivery's %s went on",
    async (what) => {
      const [source, target] = [createMemoryStore(), createMemoryStore()];
      const late = delivery("contract.created", {}, { headers: { "content-encoding": "unknown" } });
      await receiveInto(source, [late]);
      await copyStore(source, target);
      const again = what === "attempts" ? late : delivery("contract.created");
      await receiveInto(target, [again]);
      await expect(copyStore(source, target)).rejects.toMatchObject({
        code: "invalid-configuration",
        message: expect.stringContaining("has received data of its own"),
      });
    },
  );

  it("refuses to take back what the target has received since, before it writes and before it repairs", async () => {
    const source = await openReceiving(sqlite(":memory:"));
    const target = await openReceiving(postgres({ connectionString: postgresUrl, schema: freshSchema() }));
    const [first, second, third] = fc.sample(schedule({ manner: "wild", contractsMax: 3 }), {
      numRuns: 3,
      seed: 5,
    });
    await source.deliver(first!);
    await copyStore(source.store, target.store);
    await source.deliver(second!);
    // The source has been gone over, the target's turn waits until the app there has received.
    let delivering: Promise<unknown> | undefined;
    const read: Store["read"] = async (work) => {
      await delivering;
      return target.store.read(work);
    };
    const copying = copyStore(
      source.store,
      { ...target.store, read },
      {
        onProgress: ({ doing }) => {
          if (doing === "comparing") delivering ??= target.deliver(third!);
        },
      },
    );
    const refusal = {
      code: "invalid-configuration",
      message: expect.stringContaining("has received data of its own"),
    };
    await expect(copying).rejects.toMatchObject(refusal);
    const before = await mirroredRows(target.store);
    await source.deliver(second!);
    await expect(copyStore(source.store, target.store)).rejects.toMatchObject(refusal);
    expect(await mirroredRows(target.store)).toEqual(before);
    await target.store.close();
    await source.store.close();
  });

  it("refuses when the target has read a contract that its source has not", async () => {
    const source = await openReceiving(sqlite(":memory:"));
    const target = await openReceiving(sqlite(":memory:"));
    await target.store.transaction((tx) =>
      tx.insert("inputs", [
        {
          kind: "snapshot",
          contractId: "CNT-1",
          digest: "ab".repeat(32),
          receivedAt: "2026-11-01",
          facts: {} as never,
        },
      ]),
    );
    await expect(copyStore(source.store, target.store)).rejects.toMatchObject({
      code: "invalid-configuration",
      message: expect.stringContaining("it has inputs"),
    });
    await target.store.close();
    await source.store.close();
  });

  it("makes nothing in its source, and says what to do when that is of another version", async () => {
    const file = temporaryFile();
    const missing = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", freshSchema());
    expect([missing.code, existsSync(file)]).toEqual([1, false]);
    expect(missing.output).toContain("no file");
    writeFileSync(file, "");
    const empty = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", freshSchema());
    expect(empty.code).toBe(1);
    expect(empty.output).toContain(`escrow-mirror migrate --store sqlite:${file}`);
  });

  it("advises migrating only a source of an older version", async () => {
    const file = temporaryFile();
    await (await openMirror({ store: sqlite(file) })).close();
    const database = new Database(file);
    database.exec("update escrow_migrations set version = 2");
    database.close();
    const newer = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", freshSchema());
    expect(newer.code).toBe(1);
    expect(newer.output).toContain("Upgrade escrow-mirror");
    expect(newer.output).toContain("If its version is older, ");
  });
});

describe("escrow-mirror migrate", () => {
  it("--sql prints what makes the tables, and runs nothing", async () => {
    const schema = freshSchema();
    const { code, output } = await escrowMirror("migrate", "--sql", "--schema", schema);
    expect(code).toBe(0);
    expect(await run(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
    await run(output);
    expect(await run(`select count(*)::int as tables from pg_tables where schemaname = '${schema}'`)).toEqual(
      [{ tables: Object.keys(tables).length + 1 }],
    );
  });

  it("makes the tables of a store", async () => {
    const { code, output } = await escrowMirror("migrate", "--schema", freshSchema());
    expect(output).toMatch(/is ready/);
    expect(code).toBe(0);
  });
});

interface Steps {
  readonly read: Map<TableName, number>;
  readonly written: Map<TableName, number>;
}

/** The same store, which notes the most rows of each table that one read walked through, or that one transaction inserted. */
function measuring(store: Store, { read, written }: Steps): Store {
  return {
    ...store,
    read: (work) =>
      store.read((reader) =>
        work({
          ...reader,
          walk: async (table, ...rest) => {
            const rows = await reader.walk(table, ...rest);
            read.set(table, Math.max(read.get(table) ?? 0, rows.length));
            return rows;
          },
        }),
      ),
    transaction: (work) =>
      store.transaction((tx) => {
        const own = new Map<TableName, number>();
        const insert: typeof tx.insert = (table, rows) => {
          own.set(table, (own.get(table) ?? 0) + rows.length);
          written.set(table, Math.max(written.get(table) ?? 0, own.get(table) ?? 0));
          return tx.insert(table, rows);
        };
        return work({ ...tx, insert });
      }),
  };
}
