/**
 * The other process of the bench: `bare`, a node:http server that parses a JSON body and answers JSON, or `sandbox`.
 * Prints one line of JSON: where it listens, and for the sandbox its client.
 */
import { createServer } from "node:http";

import { createSandbox } from "../../../src/sandbox.ts";

// The parent asks what this process has used: on a shared machine that says more than the clock.
process.on("message", () => void process.send?.(process.cpuUsage()));

if (process.argv[2] === "bare") {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const answer = JSON.stringify({ data: text === "" ? null : JSON.parse(text), status: 200 });
      response.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`);
  });
} else {
  const sandbox = await createSandbox();
  const { baseUrl, clientId, clientSecret } = sandbox;
  process.stdout.write(`${JSON.stringify({ baseUrl, clientId, clientSecret })}\n`);
}
