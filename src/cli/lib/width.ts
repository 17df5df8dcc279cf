const ascii = /^[ -~]*$/;
// eslint-disable-next-line no-control-regex
const colours = /\u001B\[\d+m/g;
const graphemes = new Intl.Segmenter("en");
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** How many places text takes on a terminal. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text.replace(colours, ""))) width += wide.test(segment) ? 2 : 1;
  return width;
}
