/**
 * JSON strings may hold what a database can't: U+0000 (Postgres refuses it) and lone surrogates (SQLite replaces
 * them). Such characters, and the escape character itself, are written as U+0010 and four hex digits, so that every
 * string comes back as it was. Ordinary text is stored as it is.
 */
export function encodeText(text: string): string {
  return unstorable.test(text) ? text.replaceAll(unstorableEach, escapeUnit) : text;
}

export function decodeText(text: string): string {
  return text.includes(escapeCharacter) ? text.replaceAll(escapedEach, unescapeUnit) : text;
}

/** The order of two values in the stores: of text that of the UTF-8 bytes that are written of it. */
export function compareStored(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(encodeText(String(a))), Buffer.from(encodeText(String(b))));
}

const nul = String.fromCharCode(0);
const escapeCharacter = String.fromCharCode(0x10);
const lone = "[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]";
const unstorable = new RegExp(`[${nul}${escapeCharacter}\\ud800-\\udfff]`);
const unstorableEach = new RegExp(`[${nul}${escapeCharacter}]|${lone}`, "g");
const escapedEach = new RegExp(`${escapeCharacter}([0-9a-f]{4})`, "g");

function escapeUnit(unit: string): string {
  return escapeCharacter + unit.charCodeAt(0).toString(16).padStart(4, "0");
}

function unescapeUnit(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
