import { z, type ZodError } from "zod";
import { EscrowMirrorError } from "./errors.ts";

/**
 * Options as their schema has them, defaults filled in. What must stay the caller's own object goes through `z.custom`, which
 * clones nothing.
 *
 * @throws EscrowMirrorError `invalid-configuration` that names each wrong option, what is wrong with it and what fits
 */
export function parseConfiguration<Schema extends z.ZodType>(
  caller: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new EscrowMirrorError("invalid-configuration", `${caller}: ${explainIssues(parsed.error)}`);
}

/** Options of these names alone: who misspells one, or gives something else, is told which there are. */
export function strictOptions<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.map((name) => JSON.stringify(name)).join(", ")} is not an option here: the options are ${known}`
        : `expected an object with ${known}`,
  });
}

/** Each with its place: `webhook.maxBodyBytes: expected number, received string`. */
function explainIssues(error: ZodError): string {
  return error.issues
    .map((issue) => {
      const place = issue.path.join(".");
      const message = issue.message.replace("Invalid input: ", "");
      return place === "" ? message : `${place}: ${message}`;
    })
    .join("; ");
}
