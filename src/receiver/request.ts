/** The step *request*: every form of a request becomes one shape. It never throws, whatever the values are. */
import { isBodyStream, viewOf, type BodyStream } from "./body/body-stream.ts";
import { failed, type Verdict } from "./outcome.ts";

/** Headers with names in any case. */
export type HeaderBag =
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * One HTTP request, in a form that any framework, gateway or test can give. A header may be a number, which is read as text.
 * `null` counts as absent.
 */
export interface ReceiveRequest {
  /** The HTTP method in any case. Absent: `POST`. */
  readonly method?: string | undefined;
  /** `Headers`, a record, a `Map`, pairs, or Node's flat `rawHeaders`. */
  readonly headers: HeaderBag;
  /**
   * The bytes as received; text counts as UTF-8. Or a stream of Node or of the Fetch API: the mirror reads it only if
   * method and headers allow a delivery, up to `webhook.maxBodyBytes`. Absent if a parser has consumed the bytes.
   */
  readonly body?: Uint8Array | string | BodyStream | null | undefined;
  /** Whether `body` is base64, as some gateways send it. Default `false`. */
  readonly isBase64Encoded?: boolean | undefined;
  /**
   * Whether something has read the body before and may have changed it. A wrong signature then gets 500
   * instead of 401, so the service retries. Default `false`.
   */
  readonly isSecondHand?: boolean | undefined;
  /** For adapters: the line of the host's set-up to change. The log shows it if the bytes are gone or can't be read. */
  readonly hint?: string | undefined;
  /** For adapters: an error of the host, instead of a request. The mirror logs it and answers 503. */
  readonly fault?: unknown;
}

/** Callers without TypeScript may pass any value. */
type Loose<Shape> = { readonly [Key in keyof Shape]?: unknown };

export interface WholeRequest {
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}

/** All values of each header, by lower-case name. */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>;

export function checkMethod({ method }: Loose<ReceiveRequest>): Verdict | undefined {
  const isPost = typeof method !== "string" || method.trim().toUpperCase() === "POST";
  return isPost ? undefined : { outcome: "rejected", reason: "method-not-allowed" };
}

/** Refuses a stream whose `Content-Length` is too large, before any of it is read. */
export function checkLength(
  { body }: ReceiveRequest,
  headers: RequestHeaders,
  maxBodyBytes: number,
): Verdict | undefined {
  return isBodyStream(body) && (lengthOf(headers) ?? 0) > maxBodyBytes ? tooLarge : undefined;
}

const tooLarge: Verdict = { outcome: "rejected", reason: "body-too-large" };

/**
 * A refusal before the body is read. The host discards a short body. If it is long, or of unknown length, the answer must
 * close the connection.
 */
export function leavingUnread(verdict: Verdict, headers: RequestHeaders, maxBodyBytes: number): Verdict {
  const isShort = !headers.has("transfer-encoding") && (lengthOf(headers) ?? 0) <= maxBodyBytes;
  return isShort ? verdict : { ...verdict, closes: true };
}

/** The `Content-Length`, if there is exactly one and it is well-formed. */
export function lengthOf(headers: RequestHeaders): number | undefined {
  const [text = "", ...more] = headers.get("content-length") ?? [];
  return more.length === 0 && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The bytes of a body that has arrived, or why it can't be used. */
export function wholeBody(
  raw: ReceiveRequest,
  headers: RequestHeaders,
  maxBodyBytes: number,
): Uint8Array | Verdict {
  if (isLonger(raw, maxBodyBytes)) return tooLarge;
  const bytes = copyOf(raw);
  if (bytes !== undefined) return bytes;
  // A parser may turn an empty body into {} or nothing: nothing was sent, so nothing is lost.
  return lengthOf(headers) === 0 ? new Uint8Array() : failed("raw-body-unavailable");
}

/** Checked before decoding: base64 has four characters for three bytes. */
function isLonger({ body, isBase64Encoded }: ReceiveRequest, maxBodyBytes: number): boolean {
  const lengthMax = isBase64Encoded === true ? Math.ceil(maxBodyBytes / 3) * 4 : maxBodyBytes;
  const length = typeof body === "string" ? body.length : viewOf(body)?.byteLength;
  return (length ?? 0) > lengthMax;
}

/**
 * A copy, because the bytes that are verified must be the bytes that are stored: some hosts reuse their buffers. And some
 * run us in another realm (Jest).
 */
function copyOf({ body, isBase64Encoded }: ReceiveRequest): Uint8Array | undefined {
  if (typeof body === "string") return Buffer.from(body, isBase64Encoded === true ? "base64" : "utf8");
  const bytes = viewOf(body);
  if (bytes === undefined) return undefined;
  const copy = Buffer.from(bytes);
  return isBase64Encoded === true ? Buffer.from(copy.toString("latin1"), "base64") : copy;
}

/** Reads headers in any form that a host may have. Values that are no text are left out. */
export function headersOf(bag: unknown): RequestHeaders {
  const headers = new Map<string, string[]>();
  for (const [name, value] of entriesOf(bag)) {
    const values = textsOf(value);
    if (typeof name !== "string" || values.length === 0) continue;
    const key = name.toLowerCase();
    const known = headers.get(key);
    if (known === undefined) headers.set(key, values);
    else known.push(...values);
  }
  return headers;
}

type Entry = readonly [unknown, unknown];

function entriesOf(bag: unknown): Iterable<Entry> {
  if (typeof bag !== "object" || bag === null) return [];
  if (Array.isArray(bag)) return Array.isArray(bag[0]) ? bag.filter(isEntry) : pairsOf(bag);
  return isIterable(bag) ? [...bag].filter(isEntry) : Object.entries(bag);
}

function isIterable(bag: object): bag is Iterable<unknown> {
  return typeof (bag as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function";
}

function isEntry(item: unknown): item is Entry {
  return Array.isArray(item);
}

/** Node's `rawHeaders`: name, value, name, value … */
function pairsOf(flat: readonly unknown[]): Entry[] {
  const pairs: Entry[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) pairs.push([flat[index], flat[index + 1]]);
  return pairs;
}

/** The texts of a value or of a list of values. All other kinds give none. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return ["number", "bigint", "boolean"].includes(typeof value) ? [String(value)] : [];
}
