import { widthOf } from "./width.ts";

/** Breaks text between words; a longer word is left to the terminal. */
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

/** The width of a terminal that nobody has made wider. */
const helpWidth = 80;

/** Help, whose paragraphs are wrapped; a line that starts with a space is left as it is. */
export function wrapHelp(text: string): string {
  return text.replaceAll(/^\S.*(?:\n\S.*)*/gm, (paragraph) =>
    wrap(paragraph.replaceAll("\n", " "), helpWidth).join("\n"),
  );
}
