import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { Page, PageRequest } from "../../../src/queries/page.ts";
import type { Store } from "../../../src/store/store.ts";
import { delivery, noonMs } from "../../support/delivery.ts";
import { openMirror, testClock } from "../../support/mirror.ts";

export const create = (mirror: Mirror, contractId: string, shape: object = {}) =>
  mirror.receive(delivery("contract.created", { id: `c-${contractId}`, seconds: 0, contractId, ...shape }));

export async function pagesOf<Item>(
  list: (page: PageRequest) => Promise<Page<Item>>,
  limit: number,
): Promise<Item[][]> {
  const pages: Item[][] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await list({ limit, cursor });
    pages.push(page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

export const idsOf = (items: { contractId: string }[]) => items.map(({ contractId }) => contractId);

/** Contracts A to D: pending, Escrow, Dispute and a newer status. C and D came a minute later. */
export async function openSome(store: Store): Promise<Mirror> {
  const clock = testClock();
  const mirror = await openMirror({ store, clock });
  await create(mirror, "A", { reference: "R-1", metadata: { metadata1: "x" } });
  await create(mirror, "B", {
    status: "Escrow",
    reference: "R-2",
    metadata: { metadata1: "x", metadata4: "y" },
  });
  clock.advance(60_000);
  await create(mirror, "C", { status: "Dispute" });
  await create(mirror, "D", { status: "Frozen" });
  return mirror;
}

/** Refunds 1 and 2 of contract A, begun, and 3 of B, of which only the end came. It is an hour past noon. */
export async function openRefunds(store: Store): Promise<Mirror> {
  const clock = testClock(noonMs + 3_600_000);
  const mirror = await openMirror({ store, clock });
  await mirror.receive(
    delivery("refund.full-initiated", { id: "1", seconds: 0, contractId: "A", transactionId: 1 }),
  );
  await mirror.receive(
    delivery("refund.full-initiated", { id: "2", seconds: 3000, contractId: "A", transactionId: 2 }),
  );
  await mirror.receive(
    delivery("refund.full-succeeded", { id: "3", seconds: 10, contractId: "B", transactionId: 3 }),
  );
  return mirror;
}
