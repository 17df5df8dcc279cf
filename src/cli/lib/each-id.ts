/** Does one thing for each of several ids. One that fails does not stop the others. */
import process from "node:process";
import { isEscrowMirrorError } from "../../shared/errors.ts";
import { exitCodes } from "./explain.ts";
import { plain } from "./plain.ts";
import { note, print, printJson } from "./print.ts";

/** Errors of one id. All others, such as a store that is down, would come for every id. */
const aboutOneId = [
  "not-found",
  "not-releasable",
  "invalid-argument",
  "error-response",
  "invalid-response",
] as const;

/** The result for one id. */
export interface Done {
  /** For --json, beside `id` and `ok`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** For an id that is not found: the kind of thing, and the command that lists them. */
interface Missing {
  readonly kind: string;
  readonly list: string;
}

/** Prints a line for each id. A failure sets the exit code. */
export async function eachId(
  ids: readonly string[],
  { json = false }: { readonly json?: boolean },
  work: (id: string) => Promise<Done>,
  missing?: Missing,
): Promise<void> {
  for (const id of ids) {
    try {
      const { fields, text } = await work(id);
      await (json ? printJson({ id, ok: true, ...fields }) : print([plain(text)]));
    } catch (error) {
      if (!isEscrowMirrorError(error, ...aboutOneId)) throw error;
      process.exitCode = exitCodes.failed;
      const message =
        missing === undefined || error.code !== "not-found" ? error.message : toSentence(missing, id);
      if (json) await printJson({ id, ok: false, code: error.code, message });
      else note(`error: ${plain(message)}`);
    }
  }
}

function toSentence({ kind, list }: Missing, id: string): string {
  return `There is no ${kind} with the id ${id}: escrow-mirror ${list} shows the ids.`;
}
