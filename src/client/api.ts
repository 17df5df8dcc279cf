import { err, ok } from "../shared/result.ts";
import type { Result } from "../shared/result.ts";
import { describeIssues, readEnvelope } from "./answer/envelope.ts";
import type { Reader } from "./answer/read.ts";
import { call } from "./http/call.ts";
import type { CallOptions, Line } from "./http/call.ts";
import type { ApiRequest } from "./http/request.ts";
import type { Tokens } from "./http/tokens.ts";
import { checkInput } from "./input/check.ts";
import { callOptionsSchema } from "./input/call-options.ts";
import { secretsOf, writeJson } from "./input/json.ts";

/** One endpoint's call, as the client's methods describe it. */
export interface ApiCall<Data> {
  /** The method's name, such as `contracts.create`. */
  readonly name: string;
  readonly method: ApiRequest<unknown>["method"];
  /** Below `/apps/api`, its parameters in it. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Checked, under the wire's own names. */
  readonly body?: object;
  readonly read: Reader<Data>;
  /** For what changes something: how to learn whether it was done. */
  readonly findOut?: string;
}

/** The requests behind the client's methods. */
export interface Api {
  send<Data>(call: ApiCall<Data>, options: CallOptions | undefined): Promise<Data>;
}

/** Where calls go, and what may stand in no error of any of them. */
export interface Target {
  readonly baseUrl: string;
  readonly secrets: readonly string[];
}

/** The service's API on one line. Every call goes with a token. */
export function createApi(target: Target, line: Line, tokens: Tokens): Api {
  return {
    send: async (described, options = {}) => {
      const { signal, onAnswer } = checkInput(described.name, callOptionsSchema, options);
      return call(line, tokens, toRequest(target, described), { signal, onAnswer });
    },
  };
}

function toRequest<Data>({ baseUrl, secrets }: Target, described: ApiCall<Data>): ApiRequest<Data> {
  const { name, method, path, query = {}, body, read, findOut = "" } = described;
  return {
    name,
    method,
    url: `${baseUrl}/apps/api${path}${toQuery(query)}`,
    ...(body === undefined ? {} : { contentType: "application/json", body: writeJson(body) }),
    repeat: method === "GET" ? "always" : "unsent",
    findOut,
    ifUnauthorized: "The service refuses the tokens of this client, even a fresh one.",
    read: (json) => readData(json, read),
    secrets: [...secrets, ...secretsOf(body, query)],
  };
}

function toQuery(query: NonNullable<ApiCall<unknown>["query"]>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const parameters = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  );
  return given.length === 0 ? "" : `?${parameters.toString()}`;
}

function readData<Data>(json: unknown, reader: Reader<Data>): Result<Data, string> {
  const envelope = readEnvelope(json);
  if (!envelope.ok) return envelope;
  const read = reader.safeParse(envelope.value.data);
  return read.success ? ok(read.data) : err(`data: ${describeIssues(read.error)}`);
}
