/** How far long work has come: on a terminal one line that changes, else a line now and then. */
import process from "node:process";

/** Tells of progress, and takes the line off the terminal at the end. */
export interface Progress {
  tell(text: string): void;
  end(): void;
}

const everyMs = { terminal: 100, other: 5000 };

export function createProgress(): Progress {
  const isTerminal = process.stderr.isTTY;
  const waitMs = isTerminal ? everyMs.terminal : everyMs.other;
  // Work that is done at once needs no progress.
  let toldAt = Date.now();
  let isShown = false;
  return {
    tell(text) {
      if (Date.now() - toldAt < waitMs) return;
      toldAt = Date.now();
      isShown = isTerminal;
      process.stderr.write(isTerminal ? `\r\u001B[K${text}` : `${text}\n`);
    },
    end() {
      if (isShown) process.stderr.write("\r\u001B[K");
    },
  };
}
