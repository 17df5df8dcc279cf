import { z } from "zod";
import { ambiguous, NumberText, parseExactJson } from "../../events/json.ts";
import { err, ok } from "../../shared/result.ts";
import type { Result } from "../../shared/result.ts";
import { looseFields } from "../any-case.ts";

/** The envelope of every answer (§2.1), read as far as it can be. */
export interface Envelope {
  readonly data: unknown;
  readonly messageKey: string | null;
  /** `false` where the service says that it did not succeed, whatever the HTTP status. */
  readonly succeeded: boolean;
  /** The status that the envelope names. */
  readonly status: number | null;
  readonly validationErrors: readonly { readonly field: string | null; readonly message: string }[];
  readonly errors: readonly string[];
}

/** The JSON of an answer, numbers exact; or why there is none. Never quotes it. */
export function readJson(text: string): Result<unknown, string> {
  const body = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  const json = parseExactJson(body.trim());
  if (!json.ok) return err(json.error.detail);
  const twice: string[] = [];
  const value = withPlainNumbers(json.value, twice, "");
  return twice[0] === undefined ? ok(value) : err(`${twice[0]} is there twice, with different values`);
}

const byteOrderMark = "\uFEFF";

/** The envelope in any casing; or why it is none. */
export function readEnvelope(json: unknown): Result<Envelope, string> {
  const read = envelopeSchema.safeParse(json);
  if (!read.success) return err(describeIssues(read.error));
  const { data, message, succeeded, status, validationErrors, errors } = read.data;
  return ok({
    data,
    messageKey: typeof message === "string" && message !== "" ? message : null,
    succeeded: succeeded !== false,
    status: typeof status === "number" ? status : null,
    validationErrors: toList(validationErrors).map(toValidationError),
    errors: toList(errors).filter((item) => typeof item === "string"),
  });
}

/** Places and types only. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join(".") || "body"}: ${issue.message.replace("Invalid input: ", "")}`)
    .join("; ");
}

const anything = z.unknown().optional();

const envelopeSchema = looseFields({
  data: anything,
  message: anything,
  status: anything,
  succeeded: anything,
  validationErrors: anything,
  errors: anything,
});

const errorFields = looseFields({ field: anything, message: anything });

/** As many are kept of a list of errors. */
const errorsMax = 50;

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, errorsMax) : [];
}

function toValidationError(value: unknown): Envelope["validationErrors"][number] {
  if (typeof value === "string") return { field: null, message: value };
  const read = errorFields.safeParse(value);
  const { field, message } = read.success ? read.data : {};
  return {
    field: typeof field === "string" ? field : null,
    message: typeof message === "string" ? message : "",
  };
}

/** Numbers that JavaScript would change as text, digit by digit. JSON gives no deeper tree than its own bound. */
function withPlainNumbers(value: unknown, twice: string[], path: string): unknown {
  if (value === ambiguous) twice.push(path);
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value))
    return value.map((item, index) => withPlainNumbers(item, twice, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [
    key,
    withPlainNumbers(field, twice, path === "" ? key : `${path}.${key}`),
  ]);
  return Object.fromEntries(entries);
}
