import { widthOf } from "./width.ts";

/** Breaks text between words. A word that is too long stays whole. */
export function wrap(text: string, room: number): string[] {
  if (widthOf(text) <= room) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && widthOf(line) + 1 + widthOf(word) <= room)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The usual width of a terminal. */
const helpWidth = 80;

/** Wraps the paragraphs of a help text. A line that starts with a space stays as it is. */
export function wrapHelp(text: string): string {
  return text.replaceAll(/^\S.*(?:\n\S.*)*/gm, (paragraph) =>
    wrap(paragraph.replaceAll("\n", " "), helpWidth).join("\n"),
  );
}
