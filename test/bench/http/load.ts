/** The load of the HTTP bench: wrk, with prepared requests from a file. */
import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { makeDeliveries, type BenchDelivery } from "../deliveries.ts";

export const connections = 64;

const run = promisify(execFile);

/** @throws Error that says how to get wrk, where it is missing and can't be installed */
export async function installWrk(): Promise<void> {
  await run("bash", ["test/bench/http/install.sh"]).catch((error: { stderr?: string }) => {
    throw new Error(error.stderr?.trim() ?? "wrk could not be installed", { cause: error });
  });
}

/** Writes `count` signed deliveries as wrk's script reads them: the bytes of whole requests. */
export async function prepareRequests(file: string, count: number, firstContract: number): Promise<void> {
  const bytes = function* (): Generator<Buffer> {
    for (const delivery of makeDeliveries(count, firstContract)) {
      const request = toRequest(delivery);
      yield Buffer.concat([Buffer.from(`${request.byteLength}\n`), request]);
    }
  };
  await pipeline(Readable.from(bytes()), createWriteStream(file));
}

function toRequest({ method, headers, body }: BenchDelivery): Buffer {
  const all = { Host: "127.0.0.1", ...headers, "Content-Length": String(body.byteLength) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} /webhooks/escrow HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
}

const report = z.object({ answered: z.int(), failed: z.int(), tookUs: z.int(), p99Us: z.int() });
export type Load = z.infer<typeof report>;

export interface LoadOptions {
  readonly port: number;
  readonly requests: string;
  readonly seconds: number;
  /** Start over where the requests are used up. */
  readonly again: boolean;
}

/** One thread: each has the requests for itself, and would send them all. */
export async function load({ port, requests, seconds, again }: LoadOptions): Promise<Load> {
  const how = ["-t", "1", "-c", String(connections), "-d", String(seconds), "-s", "test/bench/http/wrk.lua"];
  const url = `http://127.0.0.1:${port}/`;
  const { stdout } = await run("wrk", [
    ...how,
    url,
    "--",
    requests,
    String(connections),
    again ? "again" : "",
  ]);
  const lines = stdout.trim().split("\n");
  const done = report.parse(JSON.parse(lines.at(-1) ?? ""));
  if (done.failed > 0 || done.answered === 0) throw new Error(`the load failed\n${stdout}`);
  return done;
}
