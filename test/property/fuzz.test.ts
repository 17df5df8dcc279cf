/** Parse and verify under whatever bytes: no throw, no hang, and no more time than the length asks for. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEvent } from "../../src/events/parse.ts";
import { prepareSecret, parseSecret } from "../../src/signature/secret.ts";
import { signaturePresets } from "../../src/signature/scheme.ts";
import { createVerifier } from "../../src/signature/verify.ts";
import { hostileBody, hostileHeaders, hostileSignature } from "../../src/testing/arbitraries/hostile.ts";
import { chooseSeed, report, secondsSince } from "../simulation/report.ts";

/** Seconds for each of the two; the soak takes 300. */
const fuzzMs = Number(process.env["FUZZ_SECONDS"] ?? 2) * 1000;
/** The time goes on while a busy machine lets the run stand still. */
const timeout = 10 * fuzzMs + 600_000;
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function fuzz<Value>(what: string, values: fc.Arbitrary<Value>, check: (value: Value) => void): void {
  const seed = chooseSeed();
  const start = performance.now();
  const startCpu = process.cpuUsage();
  let cases = 0;
  const property = fc.property(values, (value) => {
    cases++;
    check(value);
  });
  fc.assert(property, { numRuns: 1e9, interruptAfterTimeLimit: fuzzMs, seed });
  const { user, system } = process.cpuUsage(startCpu);
  const counts = { cases, "processor seconds": (user + system) / 1e6 };
  report({ what, seed, seconds: secondsSince(start), counts });
}

describe("fuzzing", () => {
  it("parse gives an event or a reason, whatever the bytes", { timeout }, () => {
    fuzz("fuzzing parse", hostileBody(), (body) => {
      const parsed = parseEvent(body);
      expect(parsed.ok ? typeof parsed.value.facts.event : typeof parsed.error.reason).toBe("string");
    });
  });

  it("verify refuses, whatever the headers, in every scheme", { timeout }, () => {
    const schemes = Object.keys(signaturePresets) as (keyof typeof signaturePresets)[];
    const verifiers = schemes.map((scheme) => createVerifier({ scheme }));
    const values = fc.record({
      verifier: fc.constantFrom(...verifiers),
      body: hostileBody(),
      headers: hostileHeaders(),
      signature: hostileSignature(),
    });
    fuzz("fuzzing verify", values, ({ verifier, body, headers, signature }) => {
      const own = new Map(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()]),
      );
      own.set(verifier.scheme.signatureHeader.toLowerCase(), [signature].flat());
      const prepared = [prepareSecret(parseSecret(secret, "default"), verifier.scheme)];
      const request = { body, headers: (name: string) => own.get(name) ?? [] };
      expect(verifier.verify(request, prepared, 0).ok).toBe(false);
    });
  });

  const shapes: readonly (readonly [string, (size: number) => string])[] = [
    ["nesting", (size) => `${"[".repeat(size)}${"]".repeat(size)}`],
    ["keys", (size) => `{${Array.from({ length: size / 8 }, (_, key) => `"k${key}":1`).join(",")}}`],
    ["one key again and again", (size) => `{${'"a":1,'.repeat(size / 6)}"b":2}`],
    ["escapes", (size) => `{"a":"${"\\u0041".repeat(size / 6)}"}`],
    [
      "digits",
      (size) =>
        `{"id":"1","event":"contract.created","data":{"contractId":"C","amount":${"9".repeat(size)}}}`,
    ],
    [
      "an exponent",
      (size) =>
        `{"id":"1","event":"contract.created","data":{"contractId":"C","amount":1e${"9".repeat(size)}}}`,
    ],
    [
      "a fraction of a time",
      (size) =>
        `{"id":"1","event":"a","data":{"contractId":"C","timestamp":"2026-01-25T10:28:10.${"1".repeat(size)}Z"}}`,
    ],
    ["white space", (size) => `${" ".repeat(size)}{}`],
    ["backslashes", (size) => `{"a":"${"\\\\".repeat(size / 2)}"}`],
  ];

  // The longest body there is. Quadratic time would be hours, and the runner gives a test two minutes.
  it.each(shapes)("parse gets through a body of 1 MiB: %s", (_, make) => {
    const parsed = parseEvent(Buffer.from(make(1_000_000)));
    expect(typeof parsed.ok).toBe("boolean");
  });
});
