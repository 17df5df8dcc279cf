import { z } from "zod";
import { systemClock } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { parseConfiguration, strictOptions } from "../shared/configuration.ts";
import type { Fetch } from "./http/fetch.ts";

/** The address of the service, and your credentials. */
export type ClientOptions = CredentialOptions | TokenOptions;

/** The client asks for its tokens itself. */
export interface CredentialOptions extends CommonOptions {
  /** Where tokens are issued: the URL before `/connect/token`. */
  readonly authUrl: string;
  /** Your client id at the service. */
  readonly clientId: string;
  /** Your client secret. It is sent to `authUrl` and nowhere else. */
  readonly clientSecret: string;
  /** The OAuth scope to ask for. Default: none. */
  readonly scope?: string | undefined;
  /**
   * The unit of a token's `expires_in`. Default `"seconds"`, as OAuth says. If the service means minutes, `"seconds"` does
   * no harm: tokens are only renewed too early.
   */
  readonly expiresInUnit?: "seconds" | "minutes" | undefined;
}

/** Your code supplies the tokens. */
export interface TokenOptions extends CommonOptions {
  /** Called for the first token, for a new one before `expiresAt`, and after a 401. Calls at the same time share one token. */
  readonly getToken: () => Promise<AccessToken>;
}

/** An access token of your own. */
export interface AccessToken {
  /** The token, without `Bearer`. */
  readonly accessToken: string;
  /** When it expires: a `Date`, or milliseconds since 1970. Without it, the token is used until a 401. */
  readonly expiresAt?: Date | number | null | undefined;
}

/** Options of every client. */
export interface CommonOptions {
  /** Where the service is: the URL before `/apps/api`. */
  readonly baseUrl: string;
  /** How long one request may take, including its answer. Milliseconds, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent again, if nothing can happen twice. Default 2. */
  readonly retries?: number | undefined;
  /**
   * The wait before the first repeat, in milliseconds. It doubles each time. Default 500. `Retry-After` replaces it.
   */
  readonly backoffMs?: number | undefined;
  /** The `fetch` to use. It must not repeat requests by itself: a refund could be sent twice. Default: the platform's. */
  readonly fetch?: Fetch | undefined;
  /** The time, for tests. Default: the machine's. */
  readonly clock?: Clock | undefined;
}

/** A sandbox of `escrow-mirror/sandbox`, or anything of that shape. */
export interface SandboxLike {
  /** Where the service is. */
  readonly baseUrl: string;
  /** Where tokens are issued. */
  readonly authUrl: string;
  /** The client id. */
  readonly clientId: string;
  /** The client secret. */
  readonly clientSecret: string;
  /** The sandbox's time. The client uses it as its clock. */
  readonly clock: Clock;
  /** Distinguishes a sandbox from options. */
  settleRefund(refundId: number | string): Promise<unknown>;
}

/** Options with their defaults. */
export type Settings = z.output<typeof credentialSchema> | z.output<typeof tokenSchema>;

/** @throws EscrowMirrorError `invalid-configuration` that names each wrong option */
export function parseClientOptions(options: ClientOptions | SandboxLike): Settings {
  const given: unknown = isSandbox(options) ? fromSandbox(options) : options;
  const byToken = typeof given === "object" && given !== null && "getToken" in given;
  return byToken
    ? parseConfiguration("createClient", tokenSchema, given)
    : parseConfiguration("createClient", credentialSchema, given);
}

function isSandbox(options: unknown): options is SandboxLike {
  return typeof options === "object" && options !== null && "settleRefund" in options;
}

function fromSandbox({ baseUrl, authUrl, clientId, clientSecret, clock }: SandboxLike): CredentialOptions {
  return { baseUrl, authUrl, clientId, clientSecret, clock };
}

/** A day. */
const timeoutMsMax = 86_400_000;
const retriesMax = 10;

const text = z.string().refine((value) => value.trim() !== "", { error: "expected text that is not blank" });

/** Without a slash at its end. The message quotes nothing: a URL may hold a password. */
const url = z
  .string()
  .refine(isServiceUrl, {
    error: "expected an http or https URL without user name, password, query and hash",
  })
  .transform((value) => value.replace(/\/+$/, ""));

const common = {
  baseUrl: url,
  timeoutMs: z.number().min(1).max(timeoutMsMax).default(30_000),
  retries: z.int().min(0).max(retriesMax).default(2),
  backoffMs: z.number().min(0).max(timeoutMsMax).default(500),
  fetch: z
    .custom<Fetch>((value) => typeof value === "function", { error: "expected a function" })
    // Looked up at each call: tools that replace the global one may come later.
    .default((): Fetch => (input, init) => globalThis.fetch(input, init)),
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | null)?.now === "function", {
      error: "expected an object with now()",
    })
    .default(systemClock),
};

const credentialSchema = strictOptions({
  ...common,
  authUrl: url,
  clientId: text,
  clientSecret: text,
  scope: text.optional(),
  expiresInUnit: z.enum(["seconds", "minutes"]).default("seconds"),
});

const tokenSchema = strictOptions({
  ...common,
  getToken: z.custom<TokenOptions["getToken"]>((value) => typeof value === "function", {
    error: "expected a function",
  }),
});

function isServiceUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}
