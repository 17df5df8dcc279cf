/** Receiving processes: built once, started on a database file, posted to, killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { bundle as build } from "../support/children/bundle.ts";

export const secret = "whsec_simulation";

/** Bundles a child, so that a start costs little; gives its path. */
export function buildChild(entry = "child"): Promise<string> {
  return build(new URL(`${entry}.ts`, import.meta.url));
}

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came back; `undefined` when the connection broke. */
export interface Answer {
  readonly status: number;
  readonly outcome: string;
}

export interface Receiver {
  readonly port: number;
  /** @param path `/idle` waits until nothing is owed to a handler */
  post(delivery: Delivery, path?: string): Promise<Answer | undefined>;
  /** Stops the process where it is, or lets it go on. */
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Starts a receiving process on `database` and waits until it listens. */
export async function startReceiver(
  bundle: string,
  database: string,
  ...values: string[]
): Promise<Receiver> {
  const child = spawn(process.execPath, [bundle, database, secret, ...values], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await portOf(child);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    port,
    post: (delivery, path) => post(agent, port, delivery, path),
    signal: (name) => child.kill(name),
    kill: async () => {
      const gone = once(child, "exit");
      // It may have ended by itself.
      if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await gone;
      agent.destroy();
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error("the receiving process has no output");
  for await (const line of createInterface(child.stdout)) return Number(line);
  throw new Error("the receiving process ended before it listened");
}

function post(
  agent: Agent,
  port: number,
  { headers, body }: Delivery,
  path = "/",
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const length = { "Content-Length": Buffer.byteLength(body) };
    const options = {
      agent,
      port,
      path,
      host: "127.0.0.1",
      method: "POST",
      headers: { ...headers, ...length },
    };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(toAnswer(response.statusCode ?? 0, text)));
      response.on("error", () => resolve(undefined));
    });
    sent.on("error", () => resolve(undefined));
    sent.end(body);
  });
}

function toAnswer(status: number, text: string): Answer | undefined {
  try {
    const { outcome } = JSON.parse(text) as { outcome: string };
    return { status, outcome };
  } catch {
    // The answer was cut off: it is none.
    return undefined;
  }
}
