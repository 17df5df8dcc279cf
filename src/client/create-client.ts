import { createApi } from "./api.ts";
import { contractCalls } from "./contracts.ts";
import type { ContractCalls } from "./contracts.ts";
import type { Line } from "./http/call.ts";
import { tokenSource } from "./http/token-source.ts";
import { createTokens } from "./http/tokens.ts";
import { parseClientOptions } from "./options.ts";
import type { ClientOptions, SandboxLike } from "./options.ts";
import { userCalls } from "./users.ts";
import type { UserCalls } from "./users.ts";
import { webhookCalls } from "./webhooks.ts";
import type { WebhookCalls } from "./webhooks.ts";

/** The service's API. Every method resolves with the answer's `data` and rejects with an `EscrowApiError`. */
export interface Client {
  /** Create, read, pay, refund. */
  readonly contracts: ContractCalls;
  /** The webhook subscription and its delivery log. */
  readonly webhooks: WebhookCalls;
  /** Buyers and sellers. */
  readonly users: UserCalls;
}

/**
 * A client of the escrow service. It uses the built-in `fetch`. Give it your credentials, your own tokens, or a sandbox.
 *
 * @example
 * const client = createClient({ baseUrl, authUrl, clientId, clientSecret });
 * const { contractId, checkoutUrl } = await client.contracts.create(input);
 *
 * @throws EscrowMirrorError `invalid-configuration` that names each wrong option
 */
export function createClient(options: ClientOptions | SandboxLike): Client {
  const settings = parseClientOptions(options);
  const line: Line = { ...pickLine(settings), random: Math.random };
  const tokens = createTokens(tokenSource(settings, line), line.clock);
  const secrets = "clientSecret" in settings ? [settings.clientSecret] : [];
  const api = createApi({ baseUrl: settings.baseUrl, secrets }, line, tokens);
  return { contracts: contractCalls(api), webhooks: webhookCalls(api), users: userCalls(api) };
}

/** Without what is secret. */
function pickLine({ fetch, timeoutMs, retries, backoffMs, clock }: Omit<Line, "random">) {
  return { fetch, timeoutMs, retries, backoffMs, clock };
}
