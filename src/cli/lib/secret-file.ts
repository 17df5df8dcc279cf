/** The file that a new secret goes to. */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { Misuse } from "./explain.ts";

/** A file that nobody else can read. It gets its name when it holds the whole secret; until then it is a draft. */
export interface SecretFile {
  readonly save: (secret: string) => void;
  /** Removes the draft. The saved file stays. */
  readonly close: () => void;
}

/**
 * Makes the draft before the secret is changed. So a place that can't be written to is found in time.
 *
 * @throws Misuse if the file can't be made
 */
export function openSecretFile(path: string): SecretFile {
  // In a container each run has the same process id, and a killed one leaves its draft.
  const draft = `${path}.${randomUUID()}.new`;
  const descriptor = openDraft(draft, path);
  let isOpen = true;
  return {
    save: (secret) => {
      writeSync(descriptor, secret, 0, "utf8");
      fsyncSync(descriptor);
      renameSync(draft, path);
    },
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
      rmSync(draft, { force: true });
    },
  };
}

function openDraft(draft: string, path: string): number {
  try {
    // The draft would be made beside the folder, and could never get its name.
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      throw Object.assign(new Error("a directory"), { code: "EISDIR" });
    return openSync(draft, "wx", 0o600);
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    throw new Misuse(`--save: ${path} can't be written (${code}).`, { cause });
  }
}
