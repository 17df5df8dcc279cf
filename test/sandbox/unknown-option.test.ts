import { describe, expect, it } from "vitest";
import { createSandbox } from "../../src/sandbox.ts";
import { defaults } from "../../src/sandbox/world/settings.ts";

async function refusalOf(option: string): Promise<string> {
  const options: object = { [option]: 1 };
  const error: unknown = await createSandbox(options).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "invalid-configuration" });
  return (error as Error).message;
}

describe("an option that the sandbox does not have", () => {
  it("is named, before all that there are in lines that a terminal shows whole", async () => {
    const [first, ...lines] = (await refusalOf("colour")).split("\n");
    expect(first).toBe('There is no option "colour" of createSandbox. Its options:');
    expect(lines.filter((line) => line.length > 80 || !line.startsWith("  "))).toEqual([]);
    const names = lines.flatMap((line) => line.split(",").map((name) => name.trim())).filter(Boolean);
    expect(names).toEqual([...names].sort());
    for (const name of [...Object.keys(defaults), "webhookUrl", "data"]) expect(names).toContain(name);
  });
});
