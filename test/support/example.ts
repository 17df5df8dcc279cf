/** An example run as its own process, as a user would run it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { delivery, secret } from "./delivery.ts";
import { temporaryFile } from "./mirror.ts";

export interface RunningExample {
  /** Where it listens. */
  readonly url: string;
  /** With a body, a POST of JSON. */
  request(path: string, body?: string): Promise<readonly [status: number, body: unknown]>;
  /** The answer to a signed delivery that creates `contractId`. */
  deliver(contractId: string): Promise<readonly [status: number, body: unknown]>;
  /** Asks the process to stop; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** @param main the URL of the example's program; it writes a log line with its `port` once it listens; `more` is put into its environment */
export async function startExample(
  main: URL,
  more: Readonly<Record<string, string>> = {},
): Promise<RunningExample> {
  const env = {
    ...process.env,
    ESCROW_WEBHOOK_SECRET: secret,
    ESCROW_DATABASE: temporaryFile(),
    PORT: "0",
    ...more,
  };
  const child = spawn(process.execPath, ["--import", "tsx", main.pathname], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const port = await portOf(createInterface(child.stdout));
  const url = `http://127.0.0.1:${port}`;
  const send = async (path: string, init: RequestInit) => {
    const answered = await fetch(url + path, init);
    return [answered.status, JSON.parse((await answered.text()) || "null") as unknown] as const;
  };
  return {
    url,
    request: (path, body) =>
      send(
        path,
        body === undefined ? {} : { method: "POST", body, headers: { "Content-Type": "application/json" } },
      ),
    deliver: (contractId) => {
      const { headers, body } = delivery("contract.created", { id: contractId, contractId });
      return send("/webhooks/escrow", {
        method: "POST",
        headers: { "Content-Type": "application/json", ...(headers as Record<string, string>) },
        body: body as Uint8Array<ArrayBuffer>,
      });
    },
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

async function portOf(lines: AsyncIterable<string>): Promise<number> {
  for await (const line of lines) {
    const { port } = JSON.parse(line) as { port?: number };
    if (port !== undefined) return port;
  }
  throw new Error("the example ended before it listened");
}
