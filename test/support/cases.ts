/** The cases from public bug reports: where each is tried, and what their files share. */
import { afterAll, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { delivery, fixtureDelivery } from "./delivery.ts";

/** Where each case is tried: a file of `unit/receiver/cases`, other tests, or with the issue that brings what it needs. */
const cases = {
  "Two simultaneous copies of one delivery both take effect": "duplicates; handlers",
  "Id is recorded as seen before the handler succeeds": "handlers",
  "Refund that arrives before its payment is thrown away": "order",
  "Late older event overwrites newer status": "order",
  'Process killed after claiming: delivery stuck as "processing"':
    "test/simulation (nothing is claimed before its commit; the lease of a job)",
  "State checked and changed in separate steps": "order; handlers",
  "Storage failure swallowed and answered 200": "answers",
  "Missing signature or timestamp header is only warned about": "signatures",
  "Sender retries keep the first timestamp": "signatures",
  "NUMERIC and BIGINT come back as strings": "values (SQLite); later: Postgres",
  "Money as binary floating point": "values",
  "Unknown event type answered with an error": "answers; handlers",
  "New status value or extra field breaks parsing": "answers",
  "App-wide JSON parser runs before the receiver (Express)": "answers (receive itself); test/hosts",
  "Rejected promise in an Express 4 handler": "test/hosts",
  "SQLITE_BUSY despite a busy time-out": "answers",
  "Field casing differs between webhook and API": "values",
  "Event for a contract the mirror has never seen": "order; later: reconcile",
  "Refunds matched by amount or parent instead of id": "refunds",
  "Webhook beats the API answer (create contract)": "order (as inputs of the fold); later: client",
  "One permanently failing event blocks the rest": "answers (a delivery that can't be stored); handlers",
  "Handler slower than the sender's time-out": "handlers",
  "1.0 becomes 1 when JSON is parsed and rewritten": "signatures",
  "Escaped characters change form on re-serialisation": "signatures",
  "Wrong-length digest makes the constant-time compare throw": "signatures",
  "Webhook-id missing or hostile": "http",
  "Close while a delivery is being handled": "answers; handlers",
  "Several instances migrate at start": "test/contract/migrations.test.ts; later: Postgres",
  "Timestamps and plain dates shift with the process zone": "values; later: Postgres",
  "Whole payload or signature written to logs": "signatures",
  "Refund reported done, then fails": "refunds (the service promises that succeeded is final)",
  "Expected digest or secret shown in error or log": "signatures",
  "Async callback in a synchronous SQLite transaction": "sqlite (the store's own transaction); handlers",
  "Same GUID in different letter case": "values",
  "Header looked up by exact case": "http",
  "Booleans, dates, undefined cannot be bound": "values",
  "Duplicate inside a Postgres transaction poisons the caller's transaction": "later: Postgres",
  '"Was it inserted?" decided from the last row id': "duplicates",
  "Dedupe memory too short, unbounded, or only in RAM": "duplicates; later: prune; test/bench",
  "Pending refund shown as failed": "refunds; later: client",
  "Compressed body: which bytes were signed?": "http",
  "Seconds versus milliseconds": "signatures",
  "Integers above 2^53 change silently": "values",
  "Key-casing plugin rewrites stored JSON":
    "values (no plugin of a host's reaches our statements); later: Postgres with a host's Kysely",
  "Concurrent events take row locks in different order": "later: Postgres",
  "Persistent 401 causes endless token fetches": "later: client",
  "Sandbox signs one serialisation and sends another": "test/sandbox",
  "Only one secret can be configured": "signatures",
  "Secret used as text when it is base64 (or the reverse)": "signatures",
  "Default body limit differs by framework": "answers (receive itself); test/hosts",
  "Null and missing treated alike": "values",
  "Every parallel call fetches its own token": "later: client",
  "Non-JSON answers": "later: client",
  "Types resolve to the wrong module format": "later: package checks",
  "Conflict clause names one of two unique keys": "duplicates",
  "Child event after the parent was closed or deleted": "order",
  "Repeated header or array value": "http; test/hosts",
  "Clock ahead, and tolerance applied with the wrong sign": "signatures",
  "Stored delivery re-verified after the window": "signatures; handlers",
  "Webhook POST answered with a redirect": "answers (receive itself); test/hosts",
  "Registering twice, or next to an own JSON parser": "test/hosts",
  "Raw-body helper silently not active": "answers (receive itself); test/hosts",
  "JavaScript array sent as a Postgres array": "values (SQLite); later: Postgres",
  "Retry-After as a date or nonsense": "later: client",
  "Secret only accepted as a command-line argument": "later: command line",
  "Host has another Kysely version": "later: Postgres, package checks",
  "Derived flag not cleared when a dispute verdict flips": "order",
  "Same JSON key twice": "signatures",
  "Value altered before it enters the signed text": "signatures",
  "Paged back-fill skips or loops": "test/unit/queries/paging.test.ts (our own lists); later: reconcile",
  "Body is decoded to text before hashing": "signatures",
  "Gateway hands over the body base64-encoded": "http",
  "Synchronous HMAC on runtimes with only Web Crypto": "later: adapters (Node only, and said so)",
  "WAL file grows without bound": "sqlite",
  "BigInt reaches a JSON logger": "values",
  "Empty body with a JSON content type": "answers; test/hosts",
  "localhost resolves to ::1": "test/sandbox",
} as const;

type Heading = keyof typeof cases;
type Theme =
  "duplicates" | "order" | "answers" | "signatures" | "http" | "values" | "refunds" | "sqlite" | "handlers";

/** How the file of one theme names its tests. Once they have run, no case of that theme may be left untried. */
export function casesOf(theme: Theme) {
  const tried = new Set<Heading>();
  const promised = Object.entries(cases).filter(([, where]) => themesIn(where).includes(theme));
  afterAll(() => {
    const untried = promised.filter(([heading]) => !tried.has(heading as Heading));
    expect(untried.map(([heading]) => heading)).toEqual([]);
    expect(tried.size).toBe(promised.length);
  });
  return (heading: Heading, right: string, run: () => Promise<void> | void): void => {
    tried.add(heading);
    it(`${heading}: ${right}`, run);
  };
}

/** The first word of each place. */
function themesIn(where: string): string[] {
  return where.split(";").map((place) => place.trim().split(" ")[0] ?? "");
}

export async function statusesOf(
  mirror: Mirror,
  ...requests: Parameters<Mirror["receive"]>[0][]
): Promise<string[]> {
  const statuses: string[] = [];
  for (const request of requests) {
    const { status, outcome } = await mirror.receive(request);
    statuses.push(`${status} ${outcome}`);
  }
  return statuses;
}

export const allDeliveries = async (mirror: Mirror) => (await mirror.deliveries.list({ limit: 500 })).items;

export const proof = () => delivery("webhook.test", { id: "proof", contractId: undefined });

export const v1 = fixtureDelivery("V1");

/** How often each value is there. */
export const tally = (values: readonly string[]) =>
  Object.fromEntries(
    [...new Set(values)].sort().map((value) => [value, values.filter((each) => each === value).length]),
  );
