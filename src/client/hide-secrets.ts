/**
 * Takes out of a text that others wrote what must stand in no error and no log: the `secrets` of the call, and whatever looks
 * like a token, an account or a person's number. The service quotes what it refuses.
 */
export function hideSecrets(text: string, secrets: readonly string[] = []): string {
  let safe = text.length > readLengthMax ? text.slice(0, readLengthMax) : text;
  for (const secret of secrets) for (const form of spellings(secret)) safe = safe.replaceAll(form, hidden);
  safe = safe.replace(keptOrHidden, (found, harmless?: string) => (harmless === undefined ? hidden : found));
  safe = safe.replace(longRun, (run) => (isOpaque(run) ? hidden : run));
  return safe.length > textLengthMax ? `${safe.slice(0, textLengthMax)}…` : safe;
}

/** Longer texts of others are cut, in UTF-16 code units. */
export const textLengthMax = 500;

/** How much of a text is searched: far more than is kept, so that no secret is cut in half. */
const readLengthMax = 20 * textLengthMax;

const hidden = "[hidden]";

/** Shorter values are no secrets, and would be found in every word. */
const secretLengthMin = 4;

function spellings(secret: string): string[] {
  if (secret.length < secretLengthMin) return [];
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
}

/** Looks like a number of a person, and is none: contract ids, GUIDs, times. */
const guid = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/i;
const kept = [/\bCNT-\d+-\d+/, guid, /\b\d{4}-\d\d-\d\dT[\d:.]+Z?/];

const hides = [
  /\b(?:bearer|basic)\s+\S+/,
  /\bwhsec_\w+/,
  // IBANs, with spaces or without.
  /\b[a-z]{2}\d{2}(?:(?:[ -]|%20)?[a-z\d]){11,30}\b/,
  // Phone numbers and national ids: nine digits and more, however grouped.
  /\+?\d(?:(?:[ ().-]|%20){0,2}\d){8,}/,
];

const keptOrHidden = new RegExp(`(${sources(kept)})|${sources(hides)}`, "gi");

/** Keys and tokens: letters and digits in one long run. (Lookaheads for both would be quadratic.) */
const opaqueLengthMin = 20;
const longRun = new RegExp(`[\\w+=-]{${opaqueLengthMin},}`, "g");

function isOpaque(run: string): boolean {
  const rest = run.replace(guid, "");
  return rest.length >= opaqueLengthMin && /\d/.test(rest) && /[a-z]/i.test(rest);
}

function sources(patterns: readonly RegExp[]): string {
  return patterns.map(({ source }) => source).join("|");
}
