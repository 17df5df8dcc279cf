/**
 * What the tests' own modules undo after each test and after each file of tests. Files that share a worker share its modules,
 * and a hook that a module sets when it is loaded is the first file's alone: `test/setup.ts` sets these for every file.
 */
type Undo = () => unknown;

const afterTests: Undo[] = [];
const afterFiles: Undo[] = [];

/** Called once, where a module is loaded. */
export function undoAfterEachTest(undo: Undo): void {
  afterTests.push(undo);
}

/** Called once, where a module is loaded. */
export function undoAfterEachFile(undo: Undo): void {
  afterFiles.push(undo);
}

export async function undoTest(): Promise<void> {
  for (const undo of afterTests) await undo();
}

export async function undoFile(): Promise<void> {
  for (const undo of afterFiles) await undo();
}
