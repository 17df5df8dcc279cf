/** A receiving process whose handlers leave a trace, to be killed: rows in the delivery's transaction, and lines in a file. */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { defineHandler } from "../../src/handlers/define-handler.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { openDatabase } from "./database.ts";

const [, , place = "", secret = "", trace = "", role = "both", table = "ledger"] = process.argv;
const mirror = await createMirror({
  store: openDatabase(place),
  webhook: { secrets: secret },
  // The patient one loses its jobs to nobody, however long a busy machine lets it stand.
  jobs: {
    leaseMs: role === "patient" ? 600_000 : 1000,
    run: role !== "receive",
    backoffMs: 20,
    // Enough for a job that dies with its process by chance, again and again. Poison has few.
    maxAttempts: role === "poison" ? 4 : 1000,
  },
  handlers: role === "receive" ? [] : [defineHandler("trace", "*", leaveTrace)],
});
if (role !== "receive")
  mirror.inTransaction(
    "*",
    async (event, { trx }) => {
      await sql`insert into ${sql.table(table)} (webhook) values (${event.webhookId})`.execute(trx);
    },
    { name: "ledger" },
  );

/** The system has the line once the call returns: the process may die, and it stays. Then it takes its time, to die in. */
async function leaveTrace({ webhookId, contractId }: Traced): Promise<void> {
  appendFileSync(trace, `${webhookId}\t${contractId}\n`);
  if (role === "poison" && webhookId.startsWith("poison")) process.kill(process.pid, "SIGKILL");
  await sleep(role === "slow" ? 400 : 3);
}

interface Traced {
  readonly webhookId: string;
  readonly contractId: string;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const answering =
      request.url === "/idle"
        ? mirror.idle().then(() => ({ status: 200, headers: {}, body: '{"outcome":"idle"}' }))
        : mirror.receive({ method: "POST", headers: request.rawHeaders, body });
    void answering.then(({ status, headers, body: text }) => response.writeHead(status, headers).end(text));
  });
});
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
