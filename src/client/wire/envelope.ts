import { z } from "zod";
import { named } from "./schemas.ts";

const validationError = named(
  "ValidationError",
  "What is wrong with one field of a request.",
  z.strictObject({ field: z.string().describe("The field's path."), message: z.string() }),
);

/** §2.1, success: the envelope around `data`. */
export function answerOf<Data extends z.ZodType>(id: string, description: string, data: Data) {
  const envelope = z.strictObject({
    data,
    message: z.string().describe("A confirmation key; may be empty."),
    status: z.literal(200).describe("The HTTP status."),
    validationErrors: z.array(validationError).max(0),
    succeeded: z.literal(true).optional(),
    errors: z.array(z.string()).max(0).optional(),
  });
  return named(id, description, envelope);
}

/** §2.1 and §7. */
export const problem = named(
  "Problem",
  "The envelope of an error.",
  z.strictObject({
    data: z.null(),
    message: z.string().min(1).describe("The message key, such as BuyerNotAuthorized."),
    status: z.int().min(400).max(599).describe("The HTTP status."),
    validationErrors: z.array(validationError),
    succeeded: z.literal(false).optional(),
    errors: z.array(z.string()).optional(),
  }),
);
