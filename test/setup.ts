/** Run before each file of tests, in the worker that it shares with others. */
import { afterAll, afterEach } from "vitest";
import { undoFile, undoTest } from "./support/undo.ts";

afterEach(undoTest);
afterAll(undoFile);
