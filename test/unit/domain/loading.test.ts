import { readdirSync } from "node:fs";
import { expect, it } from "vitest";

const folder = new URL("../../../src/domain/", import.meta.url);

it.each(readdirSync(folder))("%s loads", async (file) => {
  await expect(import(new URL(file, folder).href)).resolves.toBeDefined();
});
