/**
 * Makes the text of others safe for a terminal. Escape sequences could move the cursor, and marks of direction could turn a
 * line around.
 */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu, escapeOne);
}

function escapeOne(character: string): string {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
