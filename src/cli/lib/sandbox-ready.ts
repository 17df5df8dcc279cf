/** The lines that the sandbox prints when it is ready: for a person, or for a program. Secrets that you set are not printed. */
import type { Sandbox, SandboxOptions } from "../../sandbox.ts";

/** The addresses and secrets that an app needs to use it. */
export interface SandboxReady {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** `null` if it was given, or kept from an earlier start: it may be a real secret. */
  readonly clientSecret: string | null;
  /** `null` for the same reasons. */
  readonly webhookSecret: string | null;
  readonly webhookUrl: string | null;
  readonly controlUrl: string;
  readonly data: string | null;
  readonly speed: number;
}

/**
 * Reads the options, not the flags: --config may have set them.
 *
 * @param isKept `--data` has the state of an earlier start, and its secrets
 */
export async function describeSandbox(
  sandbox: Sandbox,
  options: SandboxOptions,
  isKept: boolean,
): Promise<SandboxReady> {
  const { baseUrl, clientId, controlUrl, address } = sandbox;
  const { data = null, speed = 1 } = options;
  return {
    host: address.host,
    port: address.port,
    baseUrl,
    tokenUrl: `${sandbox.authUrl}/connect/token`,
    clientId,
    clientSecret: isKept || options.clientSecret !== undefined ? null : sandbox.clientSecret,
    webhookSecret: isKept || options.webhookSecret !== undefined ? null : sandbox.webhookSecret,
    webhookUrl: (await sandbox.subscription.get())?.webhookUrl ?? null,
    controlUrl,
    data,
    speed,
  };
}

export function readyText(ready: SandboxReady, isKept: boolean): string {
  const { host, port, data, speed } = ready;
  const given = isKept ? "as you set it, or as before: the control page shows it" : "as you set it";
  const lines = [
    ["Base URL", ready.baseUrl],
    ["Token URL", ready.tokenUrl],
    ["Client id", ready.clientId],
    ["Client secret", ready.clientSecret ?? given],
    ["Webhook secret", ready.webhookSecret ?? given],
    ["Webhooks go to", ready.webhookUrl ?? "nowhere yet: use --webhook-url, or POST /apps/api/webhooks"],
    ["Control page", ready.controlUrl],
    ["State", data === null ? "in memory, lost at the end" : `kept in ${data}`],
    ["Clock", speed === 1 ? "real time" : `${speed} × real time`],
  ] as const;
  const table = lines.map(([name, value]) => `  ${name.padEnd(16)}${value}\n`).join("");
  const again = data === null ? numbersRepeat : "";
  return `The escrow sandbox listens on ${host}, port ${port}.\n\n${table}\n${again}Your app needs the same webhook secret: set ESCROW_WEBHOOK_SECRET for both.\nCtrl+C stops it.\n\n`;
}

/** A mirror from an earlier run would mix the new contracts with the old ones: the ids are the same. */
const numbersRepeat =
  "Contract ids start again at each start. Delete your app's mirror of an earlier run, or use --data.\n";
