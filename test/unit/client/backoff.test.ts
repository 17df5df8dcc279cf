import { describe, expect, it } from "vitest";
import { backoffMsMax, toWaitMs, waitMsMax } from "../../../src/client/http/backoff.ts";

const nowMs = Date.parse("2026-01-25T10:00:00Z");
const base = { attempts: 1, backoffMs: 500, retryAfter: null, date: null, nowMs, random: 0.5 };
const asked = (retryAfter: string, date: string | null = null): number =>
  toWaitMs({ ...base, retryAfter, date });
/** What the wait is where `Retry-After` says nothing. */
const own = toWaitMs(base);

describe("a wait that the client chooses", () => {
  it("doubles up to its limit, and is spread by chance", () => {
    const waits = Array.from({ length: 10 }, (_, index) => toWaitMs({ ...base, attempts: index + 1 }));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, ...Array.from({ length: 6 }, () => backoffMsMax)]);
    expect(toWaitMs({ ...base, random: 0 })).toBe(250);
    expect(toWaitMs({ ...base, random: 1 })).toBe(750);
    expect(toWaitMs({ ...base, attempts: 5_000 })).toBe(backoffMsMax);
  });
});

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["1", 1_000],
    [" 30 ", 30_000],
    ["1.5", 1_500],
    ["60", waitMsMax],
    ["3600", waitMsMax],
    ["9".repeat(400), waitMsMax],
    ["Sun, 25 Jan 2026 10:00:07 GMT", 7_000],
    ["Sunday, 25-Jan-26 10:00:07 GMT", 7_000],
    ["Sun Jan 25 10:00:07 2026 GMT", 7_000],
    ["Sun, 25 Jan 2026 09:00:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", waitMsMax],
  ])("%s is obeyed, within bounds", (text, ms) => {
    expect(asked(text)).toBe(ms);
  });

  it.each([
    "",
    "soon",
    "-1",
    "1e3",
    "0x10",
    "NaN",
    "Infinity",
    "2026-01-25T10:00:07Z",
    "Sun, 99 Foo",
    "1, 2",
    "١",
  ])("%s says nothing", (text) => {
    expect(asked(text)).toBe(own);
  });

  it("as a date is compared with the answer's own, whatever the client's clock says", () => {
    const aDayOff = "Mon, 26 Jan 2026 10:00:07 GMT";
    expect(asked(aDayOff, "Mon, 26 Jan 2026 10:00:00 GMT")).toBe(7_000);
    expect(asked(aDayOff, "no date")).toBe(waitMsMax);
  });
});
