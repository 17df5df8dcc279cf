/** A receiver in another language: the kit says over HTTP what it lacks. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { receiverConformance, testSecret, type Observation } from "../../src/testing.ts";

it("a receiver of Python's standard library lacks what its examples leave out", async () => {
  const program = fileURLToPath(new URL("receiver.py", import.meta.url));
  const python = spawn("python3", [program, testSecret], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(createInterface(python.stdout), "line")) as [string];
  const url = `http://127.0.0.1:${port}`;
  const { checks, ok } = await receiverConformance(url, {
    secret: testSecret,
    timeoutMs: 10_000,
    observe: async (contractId) => {
      const answer = await fetch(`${url}/orders/${contractId}`);
      if (!answer.ok) return undefined;
      const { paid, ...order } = (await answer.json()) as Observation & { paid: number };
      return { ...order, paidMinor: paid * 100 };
    },
  });
  python.kill();
  expect(ok).toBe(false);
  expect(checks.flatMap((check) => (check.ok ? [] : [check.name]))).toMatchInlineSnapshot(`
    [
      "a body in chunks, without Content-Length",
      "names of fields in Pascal case",
      "webhook.test, which names no contract",
      "a body that is not JSON",
      "an empty body",
      "JSON of another shape",
      "JSON that is null",
      "a payload without a contract's id",
      "bytes that are not UTF-8",
      "no signature",
      "a signature that is not a digest",
      "a second copy takes no effect",
      "a copy under a fresh id takes no effect",
      "two copies at once take effect once",
      "an older event that comes late does not turn the state back",
      "what comes before its predecessors is not lost",
      "a milestone's event leaves its contract's status",
      "of two refunds the one that is named succeeds",
      "a refund's first event that comes late does not turn it back",
      "amounts are exact",
    ]
  `);
  expect(checks.filter(({ got }) => got === "not observable").map(({ name }) => name)).toEqual([
    "what was answered 2xx is there after a crash",
  ]);
});
