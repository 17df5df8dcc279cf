import { z } from "zod";

/**
 * The service's bodies as its documents have them: strict, without a transform, so that each is a JSON schema. They describe and
 * test; answers and webhooks are read with the lenient readers.
 */
export const wireSchemas = z.registry<{ readonly id: string }>();

/** Gives a schema its name in the OpenAPI document. */
export function named<Schema extends z.ZodType>(id: string, description: string, schema: Schema): Schema {
  const described = schema.describe(description);
  wireSchemas.add(described, { id });
  return described;
}

/** The name of a schema that has one. */
export function nameOf(schema: z.ZodType): string {
  return wireSchemas.get(schema)?.id ?? "";
}

/** A text that is not blank. */
export const text = z.string().regex(/\S/);

/** An instant in UTC. Answers have up to seven fractional digits. */
export const utcTime = z.string().regex(/Z$/).meta({ format: "date-time" });

export const guid = z.string().meta({ format: "uuid" });

export const url = z.string().meta({ format: "uri" });

/** SAR in a request: above zero. */
export const positiveAmount = z.number().gt(0).describe("SAR, at most two decimals.");

/** SAR in an answer. */
export const amount = z.number().min(0).describe("SAR.");

export const contractId = z
  .string()
  .regex(/^CNT-\d{4}-\d{8,}$/)
  .meta({ description: "Such as CNT-2601-00100003.", example: "CNT-2601-00100003" });

export const phoneNumber = z
  .string()
  .regex(/^\+?[1-9]\d{7,14}$/)
  .meta({ description: "With its country code.", example: "+966500000001" });

export const nationalId = z
  .string()
  .regex(/^[12]\d{9}$/)
  .describe("The national id: ten digits, the first a 1 or a 2.");

export const iban = z.string().regex(/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/);

/** A blank text is an absent one. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.string().regex(/^ *$/)]);
}

/** The integer ids that the service counts. */
export const count = z.int().min(1);
