/** A queue by hand on the same rows: claim, read event and contract, arm signal and time-out, complete. */
import Database from "better-sqlite3";
import { Client } from "pg";
import { concurrency } from "./mirrors.ts";

export async function runByHand(path: string): Promise<void> {
  const database = new Database(path);
  database.pragma("synchronous = full");
  const claim = database.prepare(
    `update escrow_jobs set state = 'running', worker_id = 'hand', attempts = attempts + 1
     where seq in (select seq from escrow_jobs where handler = 'all' and lost = 0 and state = 'due' order by next_attempt_at, seq limit ?)
     returning seq, contract_id, content_key`,
  );
  const event = database.prepare("select * from escrow_deliveries where content_key = ?");
  const contract = database.prepare("select * from escrow_contracts where contract_id = ?");
  const done = database.prepare("update escrow_jobs set state = 'done', worker_id = null where seq = ?");
  const promote = database.prepare(
    `update escrow_jobs set state = 'due' where state = 'waiting' and seq = (
       select seq from escrow_jobs where handler = 'all' and contract_id = ? and state in ('waiting', 'due', 'running') order by seq limit 1)`,
  );
  let jobs: Claimed[] = [];
  const turn = database.transaction(() => {
    for (const { seq, contract_id } of jobs) {
      done.run(seq);
      promote.run(contract_id);
    }
    jobs = claim.all(concurrency) as Claimed[];
    for (const { content_key, contract_id } of jobs) {
      event.get(content_key);
      contract.get(contract_id);
    }
  });
  for (;;) {
    turn.immediate();
    if (jobs.length === 0) break;
    await Promise.all(jobs.map(runOne));
  }
  database.close();
}

export async function runByHandOnPostgres(url: string, schema: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const at = (table: string): string => `"${schema}".${table}`;
  const ask = async (name: string, text: string, values: unknown[]): Promise<Claimed[]> =>
    (await client.query<Claimed>({ name, text, values })).rows;
  for (let jobs: Claimed[] = []; ;) {
    await client.query("begin");
    if (jobs.length > 0) {
      const seqs = jobs.map(({ seq }) => seq);
      await ask(
        "done",
        `update ${at("jobs")} set state = 'done', worker_id = null where seq = any($1::bigint[])`,
        [seqs],
      );
      await ask(
        "promote",
        `update ${at("jobs")} set state = 'due' where state = 'waiting' and seq in (
           select (select seq from ${at("jobs")} where handler = 'all' and contract_id = id
             and state in ('waiting', 'due', 'running') order by seq limit 1) from unnest($1::text[]) as id)`,
        [jobs.map(({ contract_id }) => contract_id)],
      );
    }
    jobs = await ask(
      "claim",
      `update ${at("jobs")} as j set state = 'running', worker_id = 'hand', attempts = attempts + 1
       where seq in (select seq from ${at("jobs")} where handler = 'all' and lost = 0 and state = 'due'
         order by next_attempt_at, seq limit $1 for update skip locked)
       returning seq, contract_id, content_key`,
      [concurrency],
    );
    await ask("event", `select * from ${at("deliveries")} where content_key = any($1::bytea[])`, [
      jobs.map(({ content_key }) => content_key),
    ]);
    await ask("contract", `select * from ${at("contracts")} where contract_id = any($1::text[])`, [
      jobs.map(({ contract_id }) => contract_id),
    ]);
    await client.query("commit");
    if (jobs.length === 0) break;
    await Promise.all(jobs.map(runOne));
  }
  await client.end();
}

interface Claimed {
  readonly seq: number;
  readonly contract_id: string;
  readonly content_key: Buffer;
}

async function runOne(): Promise<void> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 60_000);
  await Promise.resolve(controller.signal);
  clearTimeout(timer);
}
