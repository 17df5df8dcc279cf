import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { buildDocument } from "../../../src/client/openapi/document.ts";
import { specEventTypes } from "../../../src/events/event.ts";

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
}

const file = readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8");
const document = JSON.parse(file) as Document;

it("openapi.json is what the schemas say (if not: npm run openapi)", () => {
  expect(document).toEqual(JSON.parse(JSON.stringify(buildDocument())));
});

it("the document has every webhook of the service", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.webhooks)).toEqual(expect.arrayContaining([...specEventTypes]));
});

it("every operation lists what can go wrong", () => {
  const listed = ["200", "400", "401", "403", "404", "405", "409", "415", "429", "500", "default"];
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(operations).toHaveLength(13);
  for (const { responses } of operations) expect(Object.keys(responses)).toEqual(listed);
});
