import { defineConfig } from "vitest/config";

const files = {
  root: new URL("..", import.meta.url).pathname,
  exclude: ["**/node_modules/**", "test/system/**"],
};

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          ...files,
          name: "library",
          include: ["test/**/*.test.ts"],
          globalSetup: ["test/support/postgres-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          ...files,
          name: "examples",
          include: ["examples/**/*.test.ts"],
          // They run against the built package.
          globalSetup: ["test/global-setup.ts", "test/support/postgres-setup.ts"],
        },
      },
    ],
  },
});
