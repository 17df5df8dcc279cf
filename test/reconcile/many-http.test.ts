/** Many contracts, reconciled over HTTP by a process of its own. `SOAK=1` has 2,000 and 10,000, and prints memory and delay. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { beforeAll, expect, it } from "vitest";
import { openSandbox } from "../sandbox/support.ts";
import { buildChild } from "../simulation/processes.ts";
import { temporaryFile } from "../support/mirror.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { openGate, passOn } from "./gate.ts";

const isSoak = process.env["SOAK"] !== undefined;
const [few, many] = isSoak ? [2000, 10_000] : [100, 300];
const staleReads = 20;
let child: string;

beforeAll(async () => {
  child = await buildChild("../reconcile/many-child");
}, 120_000);

interface Report {
  readonly checked: number;
  readonly healed: number;
  readonly failed: number;
  readonly highest: number;
  readonly heldMs: number;
}

async function reconcileSo(count: number, place: string) {
  const sandbox = await openSandbox();
  const gate = await openGate();
  gate.clientOf(sandbox);
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push((await sandbox.createContract()).contractId);
  for (const id of ids) await sandbox.act(id, "approve");
  const idsFile = temporaryFile("ids.txt");
  writeFileSync(idsFile, ids.join("\n"));
  const { authUrl, clientId, clientSecret } = sandbox;
  const api = { baseUrl: gate.url, authUrl, clientId, clientSecret };
  const argument = JSON.stringify({ place, api, idsFile });
  const mirroring = spawn(process.execPath, [child, argument], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(mirroring.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
  expect(await next()).toMatchObject({ imported: count, failed: 0 });
  for (const id of ids) await sandbox.act(id, "pay");
  const stale = new Set(ids.slice(0, staleReads).map((id) => `GET /apps/api/contracts/${id}`));
  gate.heard.length = 0;
  gate.spoil = (request) =>
    stale.delete(request)
      ? (response, forward) => passOn(response, async () => longAgo(await forward()))
      : undefined;
  mirroring.stdin.end("go\n");
  const report = (await next()) as Report;
  const reads = new Map<string, number>();
  for (const request of gate.heard.filter((each) => each.startsWith("GET /apps/api/contracts/")))
    reads.set(request, (reads.get(request) ?? 0) + 1);
  await sandbox.close();
  return { ...report, reads };
}

/** The answer of before the contract was approved, with the date of then: a cache may give such a one. */
function longAgo(answer: Awaited<ReturnType<Parameters<typeof passOn>[1]>>) {
  const { data, ...envelope } = JSON.parse(answer.body.toString()) as { data: object };
  const then = new Date(Date.parse(String(answer.headers["date"])) - 3_600_000);
  const old = { ...data, status: "pending", updatedDate: then.toISOString() };
  const { "content-length": _, ...kept } = answer.headers;
  const headers = { ...kept, date: then.toUTCString() };
  return { ...answer, headers, body: Buffer.from(JSON.stringify({ ...envelope, data: old })) };
}

const places = [
  ["SQLite", () => temporaryFile()],
  ["Postgres", () => `${postgresUrl}#${freshSchema()}`],
] as const;

it.each(places)(
  `over HTTP on %s each of ${many} contracts is read once, and once more if its answer was stale`,
  async (name, place) => {
    const small = await reconcileSo(few, place());
    const large = await reconcileSo(many, place());
    expect([small, large].map(({ checked, healed, failed }) => [checked, healed, failed])).toEqual([
      [few, few, 0],
      [many, many, 0],
    ]);
    expect(large.reads.size).toBe(many);
    const counts = [...large.reads.values()];
    expect([counts.filter((count) => count === 2).length, Math.max(...counts)]).toEqual([staleReads, 2]);
    if (!isSoak) return;
    console.log(
      `${name}: heap above the start: ${few} contracts ${small.highest} bytes, ${many} contracts ${large.highest} bytes;`,
      `the loop held at most ${small.heldMs.toFixed(1)} and ${large.heldMs.toFixed(1)} ms`,
    );
    expect(large.highest).toBeLessThan(small.highest + 4 * 1_048_576);
  },
  600_000,
);
