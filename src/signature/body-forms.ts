/** The bodies that the sender may have signed, if something changed the body on its way. */

/** A larger body is not parsed: nobody has vouched for it. */
export const diagnosedJsonBytesMax = 32 * 1024;

/** A value nested deeper is not printed: indented, it could grow to many times the body. The service nests three deep. */
const diagnosedDepthMax = 8;

const newline = 0x0a;
const carriageReturn = 0x0d;

export function newlineForms(body: Buffer): Buffer[] {
  if (body.at(-1) !== newline) return [Buffer.concat([body, Buffer.from("\n")])];
  const line = body.subarray(0, -1);
  return line.at(-1) === carriageReturn ? [line, line.subarray(0, -1)] : [line];
}

/** If a JSON parser came between. */
export function jsonForms(body: Buffer): string[] {
  if (body.length > diagnosedJsonBytesMax) return [];
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (isDeeper(value, diagnosedDepthMax)) return [];
    const compact = JSON.stringify(value);
    const pretty = JSON.stringify(value, null, 2);
    return [
      compact,
      pretty,
      withTwoDecimals(compact),
      asciiOnly(compact),
      withTwoDecimals(asciiOnly(compact)),
    ];
  } catch {
    return [];
  }
}

// Level by level, not recursively: nobody has vouched for the body.
function isDeeper(root: unknown, depthMax: number): boolean {
  let level = [root];
  for (let depth = 0; depth <= depthMax && level.length > 0; depth++)
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  return level.length > 0;
}

/** A parser turns the service's `600.00` into `600`, and an amount is what most bodies hold (supplement, Signature). */
function withTwoDecimals(json: string): string {
  const amount = /("(?:amount|Amount)":)(-?\d{1,15})(?:\.(\d))?(?=[,}])/g;
  return json.replace(amount, (_, name: string, whole: string, tenth = "0") => `${name}${whole}.${tenth}0`);
}

function asciiOnly(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
