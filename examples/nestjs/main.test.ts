import { describe } from "vitest";
import { exampleTests } from "../../test/support/example-tests.ts";

describe("on Express", () => exampleTests(new URL("main.ts", import.meta.url)));
describe("on Fastify", () => exampleTests(new URL("main-fastify.ts", import.meta.url)));
