import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { anomalyKinds } from "../../src/domain/anomaly.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const reference = read("docs/reference.md");
const missing = (names: readonly string[]): string[] =>
  names.filter((name) => !new RegExp(`^\\|.*\`([a-z]+\\.)?${name}\``, "m").test(reference));

it("the reference has every kind of anomaly", () => {
  expect(missing(anomalyKinds)).toEqual([]);
});

it("the reference has every reason for quarantine", () => {
  const [, unreadable = "", quarantined = ""] =
    /type UnreadableReason =([^;]*);[^]*\/\/ quarantined([^]*?)\/\/ duplicate/.exec(
      read("src/receiver/outcome.ts"),
    ) ?? [];
  const reasons = [...`${unreadable}${quarantined}`.matchAll(/"([a-z0-9-]+)"/g)].map(([, name = ""]) => name);
  expect(reasons).toContain("outside-tolerance");
  expect(missing(reasons)).toEqual([]);
});

it("the reference has every reason for another answer than 200", () => {
  const [, refused = ""] = /\/\/ rejected([^;]*);/.exec(read("src/receiver/outcome.ts")) ?? [];
  const reasons = [...refused.matchAll(/"([a-z0-9-]+)"/g)].map(([, name = ""]) => name);
  expect(reasons).toContain("internal-error");
  const section = /## Reasons for any other answer[^]*?\n## /.exec(reference)?.[0] ?? "";
  expect(reasons.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
});

it("the reference has every error code, or the client's guide has it", () => {
  const [, union = ""] = /export type ErrorCode =([^]*?";)/.exec(read("src/shared/errors.ts")) ?? [];
  const codes = [...union.matchAll(/^ {2}\| "([a-z-]+)"/gm)].map(([, name = ""]) => name);
  expect(codes).toContain("unreachable-status");
  const pages = `${reference}${read("docs/client.md")}`;
  expect(codes.filter((name) => !new RegExp(`^\\|.*\`${name}\``, "m").test(pages))).toEqual([]);
});

it("the reference has every header that is stored", () => {
  const [, always = "", service = ""] =
    /ofEveryRequest = \[([^\]]*)\][^]*ofTheService = \[([^\]]*)\]/.exec(
      read("src/receiver/deliveries/kept-headers.ts"),
    ) ?? [];
  const names = [...`${always}${service}`.matchAll(/"([a-z-]+)"/g)].map(([, name = ""]) => name);
  expect(names).toContain("user-agent");
  const rows =
    reference
      .toLowerCase()
      .match(/^\|.*$/gm)
      ?.join("\n") ?? "";
  expect(names.filter((name) => !new RegExp(`\`(x-service-)?${name}\``).test(rows))).toEqual([]);
});

it.each(["src/mirror/options.ts", "src/store/sqlite/options.ts", "src/store/postgres/options.ts"])(
  "the reference has every option in %s",
  (path) => {
    const interfaces =
      read(path).match(/export (interface|type) \w+(Options|Target)\b[^]*?\n(\}|  );?\n/g) ?? [];
    const names = [...interfaces.join("").matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(1);
    // These only hold others.
    expect(missing(names.filter((name) => !["webhook", "fold", "intake", "jobs"].includes(name)))).toEqual(
      [],
    );
  },
);
