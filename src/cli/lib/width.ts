import { stripVTControlCharacters } from "node:util";

const ascii = /^[ -~]*$/;
const graphemes = new Intl.Segmenter("en");
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** How many places text takes on a terminal. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text)))
    width += wide.test(segment) ? 2 : 1;
  return width;
}
