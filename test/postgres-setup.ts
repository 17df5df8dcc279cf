/** One Postgres for a whole run of the tests: `DATABASE_URL` where it is set, else one of our own. */
import type { TestProject } from "vitest/node";
import { createServerOfOurs } from "./support/postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    return undefined;
  }
  const server = await createServerOfOurs();
  project.provide("postgresUrl", server.url);
  return () => server.remove();
}
