/** Receiving processes with a subscription at a sandbox, behind one address: what is killed is started again. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { createSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox.ts";

export interface Process {
  readonly port: number;
  /** Asks it to change the secret; gives the error's code, or `done`; `undefined` where it died. */
  rotate(): Promise<string | undefined>;
  /** Lines that it wrote to stderr. */
  readonly told: string[];
  readonly gone: Promise<unknown>;
  kill(): Promise<void>;
}

export async function startProcess(bundle: string, settings: object): Promise<Process> {
  const child = spawn(process.execPath, [bundle, JSON.stringify(settings)], { stdio: "pipe" });
  const gone = once(child, "exit");
  const told: string[] = [];
  createInterface(child.stderr).on("line", (line) => told.push(line));
  const port = await portOf(child, told);
  return {
    port,
    told,
    gone,
    rotate: () => post(port, "/rotate", {}, Buffer.alloc(0)).then((answer) => answer?.text),
    kill: async () => {
      if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await gone;
    },
  };
}

async function portOf(child: ChildProcess, told: readonly string[]): Promise<number> {
  if (child.stdout !== null) for await (const line of createInterface(child.stdout)) return Number(line);
  throw new Error(`the process ended before it listened: ${told.join(" ")}`);
}

interface Got {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

function post(port: number, path: string, headers: object, body: Buffer): Promise<Got | undefined> {
  return new Promise((resolve) => {
    const sent = request(
      {
        port,
        path,
        host: "127.0.0.1",
        method: "POST",
        headers: { ...headers, "content-length": body.length },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on("error", () => resolve(undefined));
      },
    );
    sent.on("error", () => resolve(undefined));
    sent.end(body);
  });
}

export interface Stage {
  readonly sandbox: Sandbox;
  readonly secretFile: string;
  readonly api: object;
  /** Those behind the address, in turn; 502 where the one whose turn it is does not answer. */
  readonly behind: (Process | undefined)[];
  /** How often each status was answered. */
  readonly answered: Map<number, number>;
  close(): Promise<void>;
}

export async function openStage(secretFile: string, options: SandboxOptions = {}): Promise<Stage> {
  const behind: (Process | undefined)[] = [];
  const answered = new Map<number, number>();
  let turn = 0;
  const server: Server = createServer((incoming, response) => {
    void forward(incoming, response, behind[turn++ % behind.length]).then((status) =>
      answered.set(status, (answered.get(status) ?? 0) + 1),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const retryDelaysMs = Array.from({ length: 60 }, () => 150);
  const sandbox = await createSandbox({ webhookUrl, retryDelaysMs, disableAfter: 1_000_000, ...options });
  writeFileSync(secretFile, sandbox.webhookSecret);
  const { baseUrl, authUrl, clientId, clientSecret } = sandbox;
  return {
    sandbox,
    secretFile,
    api: { baseUrl, authUrl, clientId, clientSecret },
    behind,
    answered,
    close: async () => {
      await sandbox.close();
      for (const each of behind) await each?.kill();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  to: Process | undefined,
): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const got = to && (await post(to.port, "/", incoming.headers, Buffer.concat(chunks)));
  const status = got?.status ?? 502;
  response.writeHead(status).end(got?.text);
  return status;
}
