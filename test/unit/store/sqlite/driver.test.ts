import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { unfitDriver } from "../../../../src/shared/better-sqlite3.ts";
import { temporaryFile } from "../../../support/mirror.ts";
import { startChild } from "../../../support/process.ts";

describe("better-sqlite3 is looked at before it is loaded", () => {
  it.each([
    ["made for a newer Node", "newer", /99\.1\.0, which needs Node 99 .* npm install better-sqlite3@12/],
    ["older than what we use", "older", /11\.10\.0, and 12 or newer .* npm install better-sqlite3@12/],
    ["not built for this Node", "unbuilt", /not built for this Node: npm rebuild better-sqlite3/],
  ])("one %s is a missing peer, for a store and a sandbox's data", async (_, how, message) => {
    const child = await startChild("spoiled-driver", how, dirname(temporaryFile()));
    for (const what of ["store", "sandbox"])
      expect(JSON.parse(await child.line())).toEqual({
        what,
        code: "missing-peer",
        message: expect.stringMatching(message),
      });
    expect(await child.ended).toBe(0);
  });

  it.each([
    [">=22", "20.20.2", false],
    [">=22", "22.0.0", true],
    [">=22.5 <30", "22.5.0", true],
    ["20.x || 22.x || 24.x", "20.19.0", true],
    // One that is newer than what its makers knew of may do.
    ["20.x || 22.x", "26.0.0", true],
    ["^24", "22.12.0", false],
    [undefined, "20.19.0", true],
    [22, "20.19.0", true],
    ["*", "20.19.0", true],
  ])("one that asks for Node %j on %s is fit: %s", (node, running, isFit) => {
    expect(unfitDriver({ version: "13.0.0", engines: { node } }, running) === undefined).toBe(isFit);
  });

  it("nothing is known of one whose manifest is not to be had", () => {
    expect(unfitDriver(undefined)).toBeUndefined();
    expect(unfitDriver({})).toBeUndefined();
    expect(unfitDriver({ version: 13 })).toBeUndefined();
  });
});
