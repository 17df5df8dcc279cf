import { toIsoTime } from "../../shared/clock.ts";
import type { PreparedSecret } from "../../signature/secret.ts";
import type { StoreReader, StoreTransaction } from "../../store/store.ts";
import type { RotationRow } from "../../store/tables/operations.ts";

/** One row for the newest rotation: every process answers by it. */
export const rotationName = "webhook";

export async function loadRotation(reader: StoreReader): Promise<RotationRow | undefined> {
  const [row] = await reader.lookup("rotations", "name", [rotationName]);
  return row;
}

/**
 * Changes the row under its lock. The rotation closes once its secret is saved and has verified a delivery, in either order.
 * The two may happen at once, in two processes: the later one waits for the lock and sees both.
 *
 * @param change gives the row as it should be; `undefined` leaves it
 */
export async function changeRotation(
  tx: StoreTransaction,
  nowMs: number,
  change: (row: RotationRow | undefined) => RotationRow | undefined,
): Promise<RotationRow | undefined> {
  const [before] = await tx.lock("rotations", "name", [rotationName]);
  const wanted = change(before);
  if (wanted === undefined) return before;
  const isOver = wanted.closedAt === null && wanted.savedAt !== null && (await isProven(tx, wanted));
  const row = isOver ? { ...wanted, closedAt: toIsoTime(nowMs) } : wanted;
  await tx.upsert("rotations", [row]);
  return row;
}

async function isProven(tx: StoreTransaction, { fingerprint }: RotationRow): Promise<boolean> {
  return fingerprint !== null && (await tx.lookup("secrets", "fingerprint", [fingerprint])).length > 0;
}

/** The service waits 30 s for an answer (supplement): so long a delivery signed with the old secret may be on its way. */
const graceMs = 60_000;

/** Whether the rotation is open, or was closed just now. */
export function isOpen(row: RotationRow | undefined, nowMs: number): boolean {
  if (row === undefined) return false;
  return row.closedAt === null || nowMs - Date.parse(row.closedAt) < graceMs;
}

/**
 * Whether a process with these secrets lacks the newest one. One that first verified a delivery after the rotation is
 * newer still.
 */
export function lacksNewest(
  row: RotationRow | undefined,
  secrets: readonly PreparedSecret[],
  verifiedAt: ReadonlyMap<string, string>,
): boolean {
  if (row === undefined || row.fingerprint === null) return false;
  const { fingerprint: newest, closedAt } = row;
  return !secrets.some(
    ({ fingerprint }) =>
      fingerprint === newest || (closedAt !== null && (verifiedAt.get(fingerprint) ?? "") > closedAt),
  );
}
