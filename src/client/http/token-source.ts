import { z } from "zod";
import { err, ok, settle } from "../../shared/result.ts";
import type { Result } from "../../shared/result.ts";
import { describeIssues } from "../answer/envelope.ts";
import { looseFields } from "../any-case.ts";
import { EscrowApiError } from "../api-error.ts";
import { kindOf } from "../causes.ts";
import type { CredentialOptions, Settings, TokenOptions } from "../options.ts";
import { call } from "./call.ts";
import type { Line } from "./call.ts";
import type { ApiRequest } from "./request.ts";
import type { Token } from "./tokens.ts";
import { wait } from "./wait.ts";

/** How the client comes by a token, as its options say. */
export function tokenSource(settings: Settings, line: Line): () => Promise<Token> {
  if ("getToken" in settings) return () => askCaller(settings.getToken, line.timeoutMs);
  const request = tokenRequest(settings);
  return async () => {
    const { accessToken, expiresIn } = await call(line, undefined, request, {});
    return { accessToken, expiresAtMs: line.clock.now() + toLifetimeMs(expiresIn, settings.expiresInUnit) };
  };
}

type Credentials = Pick<CredentialOptions, "authUrl" | "clientId" | "clientSecret" | "scope">;

interface Issued {
  readonly accessToken: string;
  /** As sent. */
  readonly expiresIn: unknown;
}

/** §5 and supplement. A token more or less changes nothing, so that this POST may be repeated. */
function tokenRequest({ authUrl, clientId, clientSecret, scope }: Credentials): ApiRequest<Issued> {
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  return {
    name: "token",
    method: "POST",
    url: `${authUrl}/connect/token`,
    contentType: "application/x-www-form-urlencoded",
    body: new URLSearchParams(scope === undefined ? form : { ...form, scope }).toString(),
    repeat: "always",
    findOut: "",
    ifUnauthorized: "Check clientId and clientSecret.",
    read: readIssued,
    secrets: [clientSecret],
  };
}

/** The characters that a header may have: others would be refused with a message that quotes them. */
const tokenText = z
  .string()
  .regex(/^[\x21-\x7E]+$/, { error: "expected a token of visible ASCII characters" });

const issuedSchema = looseFields({ access_token: tokenText, expires_in: z.unknown().optional() });

function readIssued(json: unknown): Result<Issued, string> {
  const read = issuedSchema.safeParse(json);
  if (!read.success) return err(describeIssues(read.error));
  return ok({ accessToken: read.data.access_token, expiresIn: read.data.expires_in });
}

/** Where `expires_in` says nothing usable. A 401 renews a token that expired before. */
const lifetimeMsDefault = 5 * 60_000;

/** No token is used for longer, whatever `expires_in` says. */
const lifetimeMsMax = 24 * 3_600_000;

/** A number or its digits, above zero; anything else says nothing. */
export function toLifetimeMs(expiresIn: unknown, unit: "seconds" | "minutes"): number {
  const isNumber = typeof expiresIn === "number" || (typeof expiresIn === "string" && /^\d/.test(expiresIn));
  const lifetimeMs = isNumber ? Number(expiresIn) * (unit === "minutes" ? 60_000 : 1_000) : Number.NaN;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, lifetimeMsMax) : lifetimeMsDefault;
}

async function askCaller(getToken: TokenOptions["getToken"], timeoutMs: number): Promise<Token> {
  const settled = new AbortController();
  const late = wait(timeoutMs, settled.signal).then(() => "late" as const);
  const given = await Promise.race([settle(getToken), late]);
  settled.abort();
  if (given === "late") throw noToken("getToken did not settle in time");
  // Only its kind: nobody knows what its message quotes.
  if (!given.ok) throw noToken(`getToken rejected (${kindOf(given.error)})`);
  const read = ownTokenSchema.safeParse(given.value);
  if (!read.success) throw noToken(`getToken returned no token: ${describeIssues(read.error)}`);
  const { accessToken, expiresAt } = read.data;
  return { accessToken, expiresAtMs: expiresAt?.valueOf() ?? Number.POSITIVE_INFINITY };
}

const ownTokenSchema = z.object({
  accessToken: tokenText,
  expiresAt: z.union([z.date(), z.number()]).nullish(),
});

function noToken(what: string): EscrowApiError {
  return new EscrowApiError("no-token", `${what}. Nothing was sent.`, { retryable: true });
}
