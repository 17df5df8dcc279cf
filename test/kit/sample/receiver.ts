/** A receiver as a careful person writes it by hand, without the library. Faults are planted here, to try the kit. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** What is on the disk: it outlives the process. */
export interface Database {
  readonly seen: Set<string>;
  readonly orders: Map<string, Order>;
  /** Authentic bodies that are no event, for a person to look at. */
  readonly odd: string[];
}

export interface Order {
  status: string | null;
  statusAt: string;
  paidMinor: number;
  parcels: number;
  readonly refunds: Record<string, string>;
}

export function createDatabase(): Database {
  return { seen: new Set(), orders: new Map(), odd: [] };
}

const bodyBytesMax = 1_048_576;

/** Work that a crash would take away; empty where nothing is put off until after the answer. */
export type Pending = (() => void)[];

export function createListener(database: Database, secret: string, pending: Pending = []) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bodyBytesMax) chunks.push(chunk);
    });
    request.on("end", () => {
      const status = length > bodyBytesMax ? 413 : answer(request, Buffer.concat(chunks));
      response.writeHead(status).end();
    });
  };

  function answer(request: IncomingMessage, body: Buffer): number {
    if (request.method !== "POST") return 405;
    if (!verify(body, request.headers["x-service-signature"])) return 401;
    const event = parse(body);
    const webhookId = String(request.headers["x-service-webhook-id"]);
    if (event === undefined) {
      database.odd.push(body.toString("latin1"));
      return 200;
    }
    commit(database, event, digestOf(body), webhookId, pending);
    return 200;
  }

  function verify(body: Buffer, header: string | string[] | undefined): boolean {
    if (typeof header !== "string") return false;
    const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"));
    const given = Buffer.from(header.replace(/^sha256=/, ""));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

function digestOf(body: Buffer): string {
  return createHash("sha256").update(body).digest("hex");
}

/** What is read of an event. */
interface Read {
  readonly event: string;
  readonly contractId: string;
  readonly status: string | undefined;
  readonly at: string;
  readonly amountMinor: number;
  readonly transactionId: string;
}

type Json = Readonly<Record<string, unknown>>;

function parse(body: Buffer): Read | undefined {
  try {
    const { event, data } = lowerFirst(JSON.parse(body.toString("utf8")) as Json) as {
      event: unknown;
      data: Json;
    };
    const { contractId, status, timestamp, amount, transactionId } = lowerFirst(data);
    if (typeof event !== "string" || typeof contractId !== "string") return undefined;
    return {
      event,
      contractId,
      status: typeof status === "string" ? status : undefined,
      at: String(timestamp),
      amountMinor: toMinor(amount),
      transactionId: String(transactionId),
    };
  } catch {
    return undefined;
  }
}

function lowerFirst(fields: Json): Json {
  const members = Object.entries(fields).map(([name, value]) => [
    name.charAt(0).toLowerCase() + name.slice(1),
    value,
  ]);
  return Object.fromEntries(members) as Json;
}

function toMinor(amount: unknown): number {
  const [whole = "0", decimals = ""] = String(amount).split(".");
  return Number(whole) * 100 + Number(decimals.padEnd(2, "0").slice(0, 2));
}

/** One transaction: what has come is remembered together with its effect. */
function commit(database: Database, event: Read, digest: string, webhookId: string, pending: Pending): void {
  const key = digest;
  if (database.seen.has(key)) return;
  const store = (): void => {
    database.seen.add(key);
    apply(database, event);
  };
  void [webhookId, pending];
  store();
}

function apply({ orders }: Database, event: Read): void {
  const { contractId, at, status, amountMinor, transactionId } = event;
  const order = orders.get(contractId) ?? {
    status: null,
    statusAt: "",
    paidMinor: 0,
    parcels: 0,
    refunds: {},
  };
  orders.set(contractId, order);
  const isContracts = !event.event.startsWith("milestone.");
  if (isContracts && status !== undefined && at > order.statusAt)
    Object.assign(order, { status, statusAt: at });
  if (event.event === "payment.completed") {
    order.paidMinor += amountMinor;
    order.parcels += 1;
  }
  if (event.event.endsWith("refund.full-initiated")) order.refunds[transactionId] ??= "initiated";
  if (event.event.endsWith("refund.full-succeeded")) order.refunds[transactionId] = "succeeded";
}
