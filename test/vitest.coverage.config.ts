import { defineConfig } from "vitest/config";

/**
 * The layers that are pure: the unit tests of their own folders take every branch of theirs. The laws are left out, for what
 * they reach hangs on their seeds.
 */
export default defineConfig({
  root: new URL("..", import.meta.url).pathname,
  test: {
    include: ["test/unit/{signature,events,domain,handlers}/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    testTimeout: 120_000,
    coverage: {
      enabled: true,
      provider: "v8",
      include: ["src/{signature,events,domain}/**/*.ts", "src/handlers/subscription.ts"],
      reporter: ["text"],
      reportsDirectory: ".tmp/coverage",
      thresholds: { branches: 100 },
    },
  },
});
