/** Run before each file of tests, in the worker that it shares with others. */
import { afterAll, afterEach } from "vitest";
import { undoFile, undoTest } from "./support/undo.ts";

// The code under test, and programs that tests start, would read these of the machine that the tests run on.
const machineVariables =
  /^(CI|GITHUB_ACTIONS|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|NODE_DISABLE_COLORS|DATABASE_URL|PG[A-Z]+|ESCROW_.+)$/;
for (const name of Object.keys(process.env)) if (machineVariables.test(name)) delete process.env[name];

afterEach(undoTest);
afterAll(undoFile);
