/** Does one thing for each of several ids: one that fails does not hold up the others. */
import process from "node:process";
import { isEscrowMirrorError } from "../../shared/errors.ts";
import { exitCodes } from "./explain.ts";
import { plain } from "./plain.ts";
import { note, print, printJson } from "./print.ts";

/** The result for one id. */
export interface Done {
  /** For --json, beside `id` and `ok`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export async function eachId(
  ids: readonly string[],
  { json = false }: { readonly json?: boolean },
  work: (id: string) => Promise<Done>,
): Promise<void> {
  for (const id of ids) {
    try {
      const { fields, text } = await work(id);
      await (json ? printJson({ id, ok: true, ...fields }) : print([plain(text)]));
    } catch (error) {
      if (!isEscrowMirrorError(error, "not-found", "not-releasable", "invalid-argument")) throw error;
      process.exitCode = exitCodes.failed;
      if (json) await printJson({ id, ok: false, code: error.code, message: error.message });
      else note(`error: ${plain(error.message)}`);
    }
  }
}
