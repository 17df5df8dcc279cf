import type { ZodError } from "zod";

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
