/** Handlers inside the delivery's transaction, on every database. */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { TransactionContext } from "../../src/handlers/transaction/call-in-transaction.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

export interface Ledger {
  readonly store: Store;
  /** The integrator's own table, in the same database. */
  readonly table: string;
}

export function describeInTransaction(name: string, create: () => Promise<Ledger>): void {
  const open = async (options: Partial<MirrorOptions> = {}) => {
    const ledger = await create();
    const mirror = await openMirror({ store: ledger.store, ...options });
    return { mirror, ...ledger };
  };
  describe(`handlers inside the delivery's transaction on ${name}`, () => {
    it("commit with the delivery: a row of the integrator's exists exactly once", async () => {
      const { mirror, table } = await open();
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }, { trx }) => {
          await insert(trx, table, contractId);
        },
        { name: "ledger" },
      );
      const requests = createdThree();
      const answers = await Promise.all([...requests, ...requests].map((request) => mirror.receive(request)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(await rowsOf(mirror, table)).toEqual(["CNT-1", "CNT-2", "CNT-3"]);
    });

    it("that throw have their delivery sent again, and leave nothing behind; neighbours are committed", async () => {
      const { mirror, table } = await open();
      let isBroken = true;
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }, { trx }) => {
          await insert(trx, table, contractId);
          if (contractId === "CNT-2" && isBroken) throw new Error("no");
        },
        { name: "ledger" },
      );
      const requests = createdThree();
      const answers = await Promise.all(requests.map((request) => mirror.receive(request)));
      expect(answers.map(({ status, reason }) => [status, reason])).toEqual([
        [200, undefined],
        [503, "handler-failed"],
        [200, undefined],
      ]);
      expect(await rowsOf(mirror, table)).toEqual(["CNT-1", "CNT-3"]);
      expect(await mirror.contracts.get("CNT-2")).toBeUndefined();
      isBroken = false;
      expect(await mirror.receive(requests[1] as never)).toMatchObject({ status: 200, outcome: "applied" });
      expect(await rowsOf(mirror, table)).toEqual(["CNT-1", "CNT-2", "CNT-3"]);
    });

    it("that throw nothing at all, or reject with it, have failed like any other", async () => {
      const { mirror, table } = await open();
      const nothing: unknown = undefined;
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }, { trx }) => {
          await insert(trx, table, contractId);
          throw nothing;
        },
        { name: "ledger" },
      );
      const [request] = createdThree();
      expect(await mirror.receive(request as never)).toMatchObject({ status: 503, reason: "handler-failed" });
      expect(await rowsOf(mirror, table)).toEqual([]);
    });

    it("that throw three times are left out: the delivery is committed, and the dead job can be retried", async () => {
      const { mirror, table } = await open();
      let isBroken = true;
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }, { trx }) => {
          await insert(trx, table, contractId);
          if (isBroken) throw new Error("no");
        },
        { name: "ledger" },
      );
      const dead: string[] = [];
      mirror.on("job-dead", ({ handler }) => void dead.push(handler), { name: "alarm" });
      const request = delivery("contract.created", { id: "c", seconds: 0 });
      const statuses = [];
      for (let copy = 0; copy < 3; copy++) statuses.push((await mirror.receive(request)).status);
      expect(statuses).toEqual([503, 503, 200]);
      expect((await mirror.contracts.get("CNT-1"))?.status).toBe("pending");
      expect(await rowsOf(mirror, table)).toEqual([]);
      await mirror.idle();
      expect(dead).toEqual(["ledger"]);
      const [job] = (await mirror.jobs.list({ state: "dead" })).items;
      expect(job).toMatchObject({ handler: "ledger", attempts: 3, lastError: "Error: no" });
      isBroken = false;
      await mirror.jobs.retry(job?.id ?? "");
      await mirror.idle();
      expect(await rowsOf(mirror, table)).toEqual(["CNT-1"]);
    });

    it("that hang are ended by their time, and what they lent refuses from then on", async () => {
      const { mirror, table } = await open({ handlerTimeoutMs: 50 });
      let late: Promise<unknown> | undefined;
      mirror.inTransaction(
        "contract.created",
        (_, { trx, signal }) => {
          signal.addEventListener("abort", () => {
            late = new Promise((resolve) => setTimeout(resolve, 5)).then(() => insert(trx, table, "late"));
            late.catch(() => undefined);
          });
          return new Promise(() => {});
        },
        { name: "hangs" },
      );
      expect(await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }))).toMatchObject({
        status: 503,
        reason: "handler-failed",
      });
      await expect(late).rejects.toMatchObject({ code: "inside-transaction" });
      expect(await rowsOf(mirror, table)).toEqual([]);
    });

    it("read what the delivery did through the mirror, and hand it no delivery", async () => {
      const { mirror } = await open();
      const seen: unknown[] = [];
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }) => {
          seen.push((await mirror.contracts.get(contractId))?.status);
          seen.push((await mirror.receive(delivery("contract.created", { id: "other", seconds: 1 }))).reason);
        },
        { name: "inside" },
      );
      expect(await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }))).toMatchObject({
        status: 200,
      });
      expect(seen).toEqual(["pending", "inside-transaction"]);
    });

    it.each<[string, (mirror: Mirror) => Promise<unknown>]>([
      ["close", (mirror) => mirror.close()],
      ["contracts.waitFor", (mirror) => mirror.contracts.waitFor("X", "Escrow")],
      ["deliveries.replay", (mirror) => mirror.deliveries.replay("X")],
      ["handlers.remove", (mirror) => mirror.handlers.remove("inside")],
      ["health", (mirror) => mirror.health()],
      ["idle", (mirror) => mirror.idle()],
      ["jobs.retry", (mirror) => mirror.jobs.retry("1")],
      ["jobs.retryAll", (mirror) => mirror.jobs.retryAll()],
      ["jobs.runOnce", (mirror) => mirror.jobs.runOnce()],
      ["metrics", (mirror) => mirror.metrics()],
      ["prune", (mirror) => mirror.prune({ jobs: 0 })],
      ["quarantine.dismiss", (mirror) => mirror.quarantine.dismiss("X")],
      ["quarantine.release", (mirror) => mirror.quarantine.release("X")],
      ["rebuild", (mirror) => mirror.rebuild()],
      ["redact", (mirror) => mirror.redact("CNT-1")],
      ["rotateSecret", (mirror) => mirror.rotateSecret({ save: async () => {} })],
    ])("may not wait for themselves in %s", async (_name, call) => {
      const { mirror } = await open();
      const codes: unknown[] = [];
      mirror.inTransaction("contract.created", async () => void codes.push(await codeOf(call(mirror))), {
        name: "inside",
      });
      const answer = await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      expect([answer.status, codes]).toEqual([200, ["inside-transaction"]]);
    });

    it("whose code is elsewhere are run there, in a transaction that ends their job too", async () => {
      const clock = testClock();
      const { mirror, table } = await open({ clock, jobs: { backoffMs: 10 } });
      const off = mirror.inTransaction("contract.created", () => undefined, { name: "ledger" });
      await mirror.idle();
      off();
      expect(await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }))).toMatchObject({
        status: 200,
      });
      let isBroken = true;
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }, { trx }) => {
          await insert(trx, table, contractId);
          if (isBroken) throw new Error("no");
        },
        { name: "ledger" },
      );
      await mirror.idle();
      expect(await rowsOf(mirror, table)).toEqual([]);
      isBroken = false;
      clock.advance(10);
      await mirror.idle();
      expect(await rowsOf(mirror, table)).toEqual(["CNT-1"]);
      expect((await mirror.jobs.list()).items).toMatchObject([{ state: "done", attempts: 2 }]);
    });

    it.each(["CNT-1", "End of the line"])(
      "may write through the driver's own connection: %s",
      async (text) => {
        const { mirror, table } = await open();
        mirror.inTransaction(
          "contract.created",
          async (_, { connection }) => {
            const driver = connection as {
              prepare?: (text: string) => { run(value: string): void };
              query?: (text: string, values: string[]) => Promise<unknown>;
            };
            if (driver.prepare !== undefined)
              driver.prepare(`insert into ${table} (contract) values (?)`).run(text);
            else await driver.query?.(`insert into ${table} (contract) values ($1)`, [text]);
          },
          { name: "raw" },
        );
        expect(await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }))).toMatchObject({
          status: 200,
        });
        expect(await rowsOf(mirror, table)).toEqual([text]);
      },
    );

    it.each(["commit", "rollback", "end; begin", " /* now */ ROLLBACK work", "-- now\nabort"])(
      "can't end the transaction by %s: nothing of the delivery is stored without the rest",
      async (ending) => {
        const { mirror, table } = await open();
        let isEnding = true;
        mirror.on("contract.created", () => undefined, { name: "owed" });
        mirror.inTransaction(
          "contract.created",
          async ({ contractId }, { trx }) => {
            await insert(trx, table, contractId);
            if (isEnding) await sql.raw(ending).execute(trx);
          },
          { name: "ends" },
        );
        const request = delivery("contract.created", { id: "c", seconds: 0 });
        expect(await mirror.receive(request)).toMatchObject({ status: 503, reason: "handler-failed" });
        expect(await mirror.contracts.get("CNT-1")).toBeUndefined();
        expect(await rowsOf(mirror, table)).toEqual([]);
        isEnding = false;
        expect(await mirror.receive(request)).toMatchObject({ status: 200, outcome: "applied" });
        expect(await rowsOf(mirror, table)).toEqual(["CNT-1"]);
        await mirror.idle();
        expect((await mirror.jobs.list()).items).toMatchObject([{ handler: "owed", state: "done" }]);
      },
    );

    it("may begin a statement with long lines of comment", async () => {
      const { mirror, table } = await open();
      const comments = `${"-".repeat(200)}\n-- the ledger\n${"/* */".repeat(200)}`;
      mirror.inTransaction(
        "contract.created",
        async ({ contractId }, { trx }) => {
          await sql`${sql.raw(comments)} insert into ${sql.table(table)} (contract) values (${contractId})`.execute(
            trx,
          );
        },
        { name: "comments" },
      );
      expect(await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }))).toMatchObject({
        status: 200,
      });
      expect(await rowsOf(mirror, table)).toEqual(["CNT-1"]);
    });

    it.each(["rollback to savepoint own", "/* again */ ROLLBACK TRANSACTION TO own"])(
      "may go back to a savepoint of their own: %s",
      async (back) => {
        const { mirror, table } = await open();
        mirror.inTransaction(
          "contract.created",
          async ({ contractId }, { trx }) => {
            await insert(trx, table, contractId);
            await sql`savepoint own`.execute(trx);
            await expect(insert(trx, table, contractId)).rejects.toThrow();
            await sql.raw(back).execute(trx);
          },
          { name: "tries" },
        );
        expect(await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }))).toMatchObject({
          status: 200,
        });
        expect(await rowsOf(mirror, table)).toEqual(["CNT-1"]);
      },
    );

    it("can't end the driver's connection, which others need after them", async () => {
      const { mirror } = await open();
      const refused: string[] = [];
      mirror.inTransaction(
        "contract.created",
        (_, { connection }) => {
          for (const [how, end] of Object.entries(endsOf(connection))) {
            try {
              end();
            } catch (error) {
              refused.push(`${how} ${(error as { code: string }).code}`);
            }
          }
        },
        { name: "ends" },
      );
      for (const id of ["c", "d"])
        expect(await mirror.receive(delivery("contract.created", { id, seconds: 0 }))).toMatchObject({
          status: 200,
        });
      const both = [...new Set(refused)].sort();
      expect([
        ["close inside-transaction"],
        ["end inside-transaction", "release inside-transaction"],
      ]).toContainEqual(both);
    });
  });
}

/** What the driver has to end its connection by. */
function endsOf(connection: unknown): Record<string, () => unknown> {
  const driver = connection as Record<string, (() => unknown) | undefined>;
  return Object.fromEntries(
    ["close", "end", "release"].flatMap((name) => {
      const end = driver[name];
      return end === undefined ? [] : [[name, () => end.call(driver)]];
    }),
  );
}

function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: { code: string }) => error.code,
  );
}

async function rowsOf(mirror: Mirror, table: string): Promise<string[]> {
  const query = sql<{ contract: string }>`select contract from ${sql.table(table)} order by contract`;
  return (await query.execute(mirror.db)).rows.map(({ contract }) => contract);
}

function insert(trx: TransactionContext["trx"], table: string, contract: string) {
  return sql`insert into ${sql.table(table)} (contract) values (${contract})`.execute(trx);
}

/** Of CNT-1, CNT-2 and CNT-3. */
function createdThree() {
  return [1, 2, 3].map((n) =>
    delivery("contract.created", { id: `c${n}`, seconds: n, contractId: `CNT-${n}` }),
  );
}
