import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { NumberText } from "../events/json.ts";

/** An object with these fields and no other, each under any casing of its name: the service's own documents mix them. */
export function strictFields<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(", ");
  const fields = z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.map((name) => JSON.stringify(name)).join(", ")} is not a field here: the fields are ${known}`
        : `expected an object with ${known}`,
  });
  return z.preprocess(renameTo(shape), fields);
}

/** An object with these fields under any casing of their names. Other fields pass as they are. */
export function looseFields<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(renameTo(shape), z.looseObject(shape));
}

type Context = z.RefinementCtx;

/** Gives known fields their own name. Two values for one field are an issue: no reader may pick one. */
function renameTo(shape: z.ZodRawShape): (value: unknown, context: Context) => unknown {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return (value, context) => {
    if (!isRecord(value)) return value;
    const renamed = new Map<string, unknown>();
    for (const [key, field] of Object.entries(value)) {
      const name = names.get(key.toLowerCase()) ?? key;
      if (renamed.has(name) && !isDeepStrictEqual(renamed.get(name), field)) {
        context.addIssue({ code: "custom", message: "expected one value", path: [name] });
      }
      renamed.set(name, field);
    }
    return Object.fromEntries(renamed);
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  );
}
