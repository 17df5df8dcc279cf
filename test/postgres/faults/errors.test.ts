/** What each error code of Postgres means for a delivery: its own fault, or a database that can't take anything now. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultOf, type Fault } from "../../../src/store/postgres/faults.ts";
import { postgres } from "../../../src/store/postgres/store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";
import { createServerOfOurs, type PostgresServer } from "../../support/postgres-server.ts";
import { freshSchema, run } from "../../support/postgres.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await createServerOfOurs();
});
afterAll(() => server.remove());

/** Of each class of the appendix "PostgreSQL Error Codes", and of its codes that mean something else. */
const decided: Readonly<Record<string, Fault>> = {
  "03": "store",
  "08": "lost",
  "09": "own",
  "0A": "store",
  "0B": "store",
  "0F": "store",
  "0L": "store",
  "0P": "store",
  "0Z": "store",
  "10": "own",
  "20": "own",
  "21": "own",
  "22": "own",
  "2200H": "store",
  "23": "own",
  "23505": "raced",
  "24": "store",
  "25": "lost",
  "25P02": "own",
  "26": "store",
  "27": "own",
  "28": "store",
  "2B": "store",
  "2D": "store",
  "2F": "own",
  "34": "store",
  "38": "own",
  "39": "own",
  "3B": "lost",
  "3D": "store",
  "3F": "store",
  "40": "undone",
  "40003": "lost",
  "42": "store",
  "44": "own",
  "53": "store",
  "54": "own",
  "55": "store",
  "57": "store",
  "57P01": "lost",
  "57P02": "lost",
  "57P03": "lost",
  "57P04": "lost",
  "57P05": "lost",
  "58": "store",
  F0: "store",
  HV: "store",
  P0: "own",
  XX: "store",
  XX000: "own",
};

const successes = /^(00|01|02)/;

describe("the appendix of error codes", () => {
  it("is decided whole, class by class", async () => {
    const [row] = await run(
      "select pg_read_file(setting || '/errcodes.txt') as text from pg_config where name = 'SHAREDIR'",
      server.url,
    );
    const codes = [...String(row?.["text"]).matchAll(/^([0-9A-Z]{5}) /gm)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(250);
    expect(codes).toContain("25P04");
    const failures = codes.filter((code) => !successes.test(code));
    const found = failures.map((code) => [code, faultOf({ code, routine: "exec_stmt_raise" })]);
    // Of a statement that the server itself finds fault with; poolers are below.
    const expected: typeof decided = { ...decided, "08P01": "own" };
    expect(found).toEqual(failures.map((code) => [code, expected[code] ?? decided[code.slice(0, 2)]]));
  });

  it.each<[string, object, Fault]>([
    ["a pooler that ends a connection", { code: "08P01" }, "lost"],
    ["a pooler that has no more connections", { code: "XX000" }, "lost"],
    ["a server that must be vacuumed first", { code: "54000", routine: "GetNewTransactionId" }, "store"],
    ["a row too long for its index", { code: "54000", routine: "index_form_tuple" }, "own"],
    ["a refused connection", { code: "ECONNREFUSED" }, "lost"],
    ["a pipe that broke", { code: "EPIPE" }, "lost"],
    ["no descriptors", { code: "EMFILE" }, "lost"],
    ["no ports", { code: "EADDRNOTAVAIL" }, "lost"],
    ["a stream that is gone", { code: "ERR_STREAM_DESTROYED" }, "lost"],
    ["a broken TLS record", { code: "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC" }, "lost"],
    ["a number that fits no array", { code: "ERR_OUT_OF_RANGE" }, "own"],
    ["a mistake of ours", new TypeError("x is not a function"), "own"],
    ["nothing", {}, "own"],
  ])("and of %s too", (_, error, fault) => {
    expect(faultOf(error)).toBe(fault);
  });
});

/** A trigger that fails with a code: `when` says for which contracts. */
async function failing(schema: string, code: string, when: string): Promise<void> {
  await run(
    `create or replace function "${schema}".fail() returns trigger language plpgsql as $$ begin
       if ${when} then raise exception 'as the test says' using errcode = '${code}'; end if;
       return new;
     end $$;
     create or replace trigger fail before insert or update on "${schema}".contracts
       for each row execute function "${schema}".fail()`,
    server.url,
  );
}

const created = (id: number) =>
  delivery("contract.created", { id: `e-${id}`, seconds: id, contractId: `CNT-${id}` });

const ofTheStore = [
  ["08000", "08006", "08007", "0A000", "2200H", "25000", "25001", "25006", "25P03", "25P04"],
  [
    "28000",
    "3D000",
    "3F000",
    "40000",
    "40001",
    "40002",
    "40003",
    "40P01",
    "42501",
    "42703",
    "42P01",
    "42P10",
  ],
  [
    "53000",
    "53100",
    "53200",
    "53300",
    "53400",
    "55000",
    "55006",
    "55P02",
    "55P03",
    "57000",
    "57014",
    "57P01",
  ],
  ["57P02", "57P03", "57P05", "58000", "58030", "58P01", "F0000", "HV00N", "XX001", "XX002"],
].flat();

describe("a delivery that meets an error of the database", () => {
  it("is answered 503 store-unavailable, and goes through once the database can take it", async () => {
    const schema = freshSchema();
    const mirror = await openMirror({ store: postgres({ connectionString: server.url, schema }) });
    const answers: string[] = [];
    for (const [index, code] of ofTheStore.entries()) {
      await failing(schema, code, "true");
      const { status, reason } = await mirror.receive(created(index));
      answers.push(`${code} ${status} ${reason}`);
    }
    expect(answers).toEqual(ofTheStore.map((code) => `${code} 503 store-unavailable`));
    await failing(schema, "P0001", "false");
    for (const index of ofTheStore.keys())
      expect(await mirror.receive(created(index))).toMatchObject({ status: 200, outcome: "applied" });
    const [row] = await run(`select count(*)::int as rows from "${schema}".deliveries`, server.url);
    expect(row).toEqual({ rows: ofTheStore.length });
  });

  it("fails none of its neighbours where the fault is its own", async () => {
    const schema = freshSchema();
    const mirror = await openMirror({ store: postgres({ connectionString: server.url, schema }) });
    const codes = ["22001", "22P05", "23502", "23514", "23P01", "39000", "44000", "54000", "P0001", "XX000"];
    for (const [round, code] of codes.entries()) {
      await failing(schema, code, `new.contract_id = 'CNT-${round * 10}'`);
      const ids = Array.from({ length: 10 }, (_, index) => round * 10 + index);
      const [poison, ...rest] = await Promise.all(ids.map((id) => mirror.receive(created(id))));
      expect([code, poison?.status]).toEqual([code, 503]);
      expect([code, poison?.reason]).not.toEqual([code, "store-unavailable"]);
      expect(rest.map(({ outcome }) => outcome)).toEqual(rest.map(() => "applied"));
    }
  });
});
