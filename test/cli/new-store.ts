import { run } from "./run-command.ts";

/** Makes an empty mirror in a file, and gives its address. */
export async function migrationOf(file: string): Promise<string> {
  const store = `sqlite:${file}`;
  const { code, stderr } = await run(["migrate", "--store", store]);
  if (code !== 0) throw new Error(stderr);
  return store;
}
