/** Prune and redact while four processes receive: nothing acknowledged is lost, and no byte of the person is left. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { settle } from "../../src/shared/result.ts";
import { signBody } from "../../src/signature/sign.ts";
import { mirroredRows } from "../property/rows.ts";
import { openDatabase } from "../simulation/database.ts";
import { buildChild, secret, startReceiver, type Delivery, type Receiver } from "../simulation/processes.ts";
import { eventBody } from "../support/delivery.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { dumpOf, sentinel } from "./redact-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-redact-"));
const [rounds, timeout] = process.env["SOAK"] === undefined ? [40, 300_000] : [400, 900_000];
const places = [
  ["sqlite", join(folder, "four.db")],
  ["postgres", `${postgresUrl}#${freshSchema()}`],
] as const;

afterAll(() => rmSync(folder, { recursive: true }));

it.each(places)("four processes receive on %s meanwhile", { timeout }, async (kind, place) => {
  const child = await buildChild();
  const store = openDatabase(place);
  const mirror = await createMirror({ store, webhook: { secrets: secret }, logger: silentLogger });
  const four: Receiver[] = [];
  // One after another: on a slow machine one would wait too long for the lock of the others.
  for (let at = 0; at < 4; at++) four.push(await startReceiver(child, place));
  try {
    const acknowledged = await Promise.all(
      four.map(async (receiver, at) => {
        let count = 0;
        for (let round = 0; round < rounds; round++)
          for (const contractId of ["CNT-1", `CNT-${at + 2}`]) {
            const sent = deliveryOf(contractId, `${at}-${round}`);
            for (let answer = await receiver.post(sent); answer?.status !== 200;)
              answer = await receiver.post(sent);
            count += 1;
            if (at === 0 && round % 10 === 5) await untilStored(() => mirror.prune({ payloads: 0 }));
            if (at === 0 && round === Math.floor(rounds / 2)) await untilStored(() => mirror.redact("CNT-1"));
          }
        return count;
      }),
    );
    const { bytesGone } = await untilStored(() => mirror.redact("CNT-1"));
    expect(bytesGone).toBe(kind === "sqlite");
    if (kind === "sqlite")
      for (const file of [place, `${place}-wal`])
        if (existsSync(file)) expect(readFileSync(file).includes(`${sentinel} CNT-1`)).toBe(false);
    expect(await dumpOf(store)).not.toContain(`${sentinel} CNT-1`);
    const stored = await store.read((reader) => reader.find("deliveries"));
    expect(stored).toHaveLength(acknowledged.reduce((sum, count) => sum + count, 0));
    const rows = await mirroredRows(store);
    await mirror.rebuild();
    expect(await mirroredRows(store)).toEqual(rows);
  } finally {
    await Promise.all(four.map((each) => each.kill()));
    await mirror.close();
  }
});

/** While four write, the file may be locked for longer than one write waits. */
async function untilStored<Result>(write: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const done = await settle(write);
    if (done.ok) return done.value;
    if ((done.error as { code?: unknown }).code !== "store-unavailable") throw done.error;
  }
}

function deliveryOf(contractId: string, id: string): Delivery {
  const text = `${sentinel} ${contractId}`;
  const webhookId = `${contractId}-${id}`;
  const fields = { id: webhookId, contractId, reference: text, metadata: { metadata1: text }, notes: text };
  const body = eventBody("contract.created", { ...fields, seconds: 0 });
  return { headers: signBody({ secret, timestamp: Date.now(), body, webhookId }), body };
}
