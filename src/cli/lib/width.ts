import { stripVTControlCharacters } from "node:util";

/** Text in which each character takes one place. Most text is like that, and `Intl.Segmenter` is slow. */
const plainLetters = /^[ -~\u00A0-\u00AC\u00AE-\u02FF\u2010-\u2027\u2190-\u21FF]*$/;
const graphemes = new Intl.Segmenter("en");
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** The number of places that text takes on a terminal. */
export function widthOf(text: string): number {
  if (plainLetters.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text)))
    width += wide.test(segment) ? 2 : 1;
  return width;
}
