/** The step *request*: whatever a host has for a request becomes one shape (semantics §2). */

/** Header names in any case, values as the host has them. */
export type HeaderBag =
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** One HTTP request as any framework, gateway or test can hand it over. */
export interface ReceiveRequest {
  readonly method: string;
  /** `Headers`, a record, a `Map`, pairs, or Node's flat `rawHeaders`. */
  readonly headers: HeaderBag;
  /** The bytes as received; text is taken as UTF-8. Absent where another parser has consumed them. */
  readonly body?: Uint8Array | string | undefined;
  /** The body is base64 of the bytes, as some gateways hand it over. */
  readonly isBase64Encoded?: boolean;
  /** What the log says where the body is absent: which line of this host's set-up to change. */
  readonly hint?: string | undefined;
}

export interface Request {
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}

/** All values of each header, by lower-case name. */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>;

/** A size above `bytesMax` is given back instead of the bytes; `undefined` where there are none. */
export function bodyOf({ body, isBase64Encoded }: ReceiveRequest): Uint8Array | undefined {
  if (typeof body === "string") return Buffer.from(body, isBase64Encoded === true ? "base64" : "utf8");
  if (!(body instanceof Uint8Array)) return undefined;
  return isBase64Encoded === true ? Buffer.from(Buffer.from(body).toString("latin1"), "base64") : body;
}

export function headersOf(bag: HeaderBag): RequestHeaders {
  const headers = new Map<string, string[]>();
  for (const [name, value] of entriesOf(bag)) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const values = typeof value === "string" ? [value] : [...value];
    const known = headers.get(key);
    if (known === undefined) headers.set(key, values);
    else known.push(...values);
  }
  return headers;
}

type Entry = readonly [string, string | readonly string[] | undefined];

function entriesOf(bag: HeaderBag): Iterable<Entry> {
  if (Array.isArray(bag) && bag.every((item) => typeof item === "string")) return pairsOf(bag);
  if (typeof (bag as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function")
    return bag as Iterable<Entry>;
  return Object.entries(bag as Record<string, string | readonly string[] | undefined>);
}

/** Node's `rawHeaders`: name, value, name, value … */
function pairsOf(flat: readonly string[]): Entry[] {
  const pairs: Entry[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2)
    pairs.push([flat[index] as string, flat[index + 1] as string]);
  return pairs;
}
