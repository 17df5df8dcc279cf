import type { z } from "zod";
import { EscrowApiError } from "../api-error.ts";
import { hideSecrets } from "../hide-secrets.ts";

/**
 * The input as it is sent, once it is known to be right.
 *
 * @throws EscrowApiError `invalid-argument`, with every fault under its field's path. Nothing was sent. Messages quote no value.
 */
export function checkInput<Schema extends z.ZodType>(
  caller: string,
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const checked = schema.safeParse(input);
  if (checked.success) return checked.data;
  const validationErrors = checked.error.issues.map((issue) => ({
    field: toField(issue.path),
    message: hideSecrets(issue.message.replace("Invalid input: ", "")),
  }));
  const faults = validationErrors.map(({ field, message }) =>
    field === null ? message : `${field}: ${message}`,
  );
  throw new EscrowApiError("invalid-argument", `${caller}: ${faults.join("; ")}. Nothing was sent.`, {
    validationErrors,
  });
}

/** `milestones[1].amount`; `null` for the whole input. */
function toField(path: readonly PropertyKey[]): string | null {
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return parts.length === 0 ? null : hideSecrets(parts.join("").replace(/^\./, ""));
}
