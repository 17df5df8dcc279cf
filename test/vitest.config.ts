import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const files = {
  root: new URL("..", import.meta.url).pathname,
  exclude: ["**/node_modules/**", "test/system/**"],
  // A worker loads the library once, not for each file: that was a fifth of the whole time.
  isolate: false,
  setupFiles: ["test/setup.ts"],
};

export default defineConfig({
  test: {
    // For a machine that has four times more to do than it can: a test that hangs is told all the same.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // These tests wait for disks, timers and other processes much of their time: two more than can run at once fill the gaps.
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        extends: true,
        test: {
          ...files,
          name: "library",
          include: ["test/**/*.test.ts"],
          globalSetup: ["test/postgres-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          ...files,
          name: "examples",
          include: ["examples/**/*.test.ts"],
          // They run against the built package.
          globalSetup: ["test/global-setup.ts", "test/postgres-setup.ts"],
        },
      },
    ],
  },
});
