/** Shows the progress of long work: on a terminal one line that changes, else a line every five seconds. */
import process from "node:process";

/** Shows progress, and removes the line from the terminal at the end. */
export interface Progress {
  tell(text: string): void;
  end(): void;
}

const everyMs = { terminal: 100, other: 5000 };

export function createProgress(): Progress {
  const isTerminal = process.stderr.isTTY;
  const waitMs = isTerminal ? everyMs.terminal : everyMs.other;
  // Short work shows none.
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
