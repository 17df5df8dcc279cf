import { defineConfig } from "vitest/config";

/** Few cases and one seed, so that each mutant costs seconds and gets the same verdict each time. No database. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/unit/domain/**/*.test.ts", "test/property/fold.test.ts"],
    // Whether it costs too much is told by time alone, which proves nothing here.
    exclude: ["test/unit/domain/cost.test.ts"],
    setupFiles: ["test/mutants/fixed-seed.ts"],
    isolate: false,
    testTimeout: 120_000,
    env: { SEED: "20260125", CASES: "100" },
  },
});
