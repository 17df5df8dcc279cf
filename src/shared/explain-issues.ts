import { z, type ZodError } from "zod";

/** What is wrong with options, each with its place: `webhook.maxBodyBytes: expected number, received string`. */
export function explainIssues(error: ZodError): string {
  return error.issues
    .map((issue) => {
      const place = issue.path.join(".");
      const message = issue.message.replace("Invalid input: ", "");
      return place === "" ? message : `${place}: ${message}`;
    })
    .join("; ");
}

/** Options of these names alone: who misspells one, or gives something else, is told which there are. */
export function strictOptions<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.map((name) => JSON.stringify(name)).join(", ")} is no option here: there are ${known}`
        : `expected an object with ${known}`,
  });
}
