/** Longer texts are not ids. In UTF-16 code units, as `String.length` counts. */
export const idLengthMax = 255;

const guidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const guidLength = 36;

/**
 * The one spelling of an id. A GUID in any case, with or without braces, is the same id: lower case, no braces.
 * Any other id is opaque and stays as it is, so `abC` and `abc` are two. Blank text and text over
 * `idLengthMax` are not ids: `undefined`.
 */
export function canonicalId(text: string): string | undefined {
  if (text.length > idLengthMax || isBlank(text)) return undefined;
  const inner = hasBraces(text) ? text.slice(1, -1) : text;
  return inner.length === guidLength && guidForm.test(inner) ? inner.toLowerCase() : text;
}

/** Whether `text` is empty or white space only. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

function hasBraces(text: string): boolean {
  return text.length === guidLength + 2 && text.startsWith("{") && text.endsWith("}");
}
