import { expect, it } from "vitest";
import { copyCommand } from "../../src/cli/copy.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { eventBody, signed } from "../support/delivery.ts";
import { openMirror, temporaryFile } from "../support/mirror.ts";
import { runCommand } from "./run-command.ts";

it("escrow-mirror copy --json tells the comparison in one line for machines", async () => {
  const [from, to] = [temporaryFile(), temporaryFile()];
  const mirror = await openMirror({ store: sqlite(from) });
  await mirror.receive(signed(eventBody("contract.created", { seconds: 0 })));
  await mirror.close();
  const addresses = ["--from", `sqlite:${from}`, "--to", `sqlite:${to}`];
  const { code, output } = await runCommand(copyCommand(), [...addresses, "--json"]);
  expect(code).toBe(0);
  const lines = output.trimEnd().split("\n");
  const compared = JSON.parse(lines.pop() ?? "") as { equal: boolean; tables: unknown[] };
  expect(compared.equal).toBe(true);
  expect(compared.tables).toContainEqual({ table: "contracts", rows: 1, equal: true });
  expect(compared.tables).toContainEqual({ table: "inputs", rows: 0, equal: true });
  // Progress, which goes to standard error.
  expect(lines.every((line) => /^(copying|comparing) \w+: [\d,]+ rows?$/.test(line))).toBe(true);
});
