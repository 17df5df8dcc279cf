import { writeFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { loadSecrets } from "../../src/cli/lib/secrets.ts";
import { temporaryFile } from "../support/mirror.ts";

function load(text: string): Partial<Record<"FIRST" | "SECOND", string>> {
  const file = temporaryFile("secrets.env");
  writeFileSync(file, text);
  return loadSecrets(["FIRST", "SECOND"], file);
}

describe("--secrets-file", () => {
  it.each([
    ["blank lines and comments", "# both\n\n  \nFIRST=1\n\t# more\nSECOND=2"],
    ["the ends of lines of Windows, and its mark of UTF-8", "\uFEFFFIRST=1\r\n\r\n# more\r\nSECOND=2\r\n"],
    ["spaces and a shell's export", "export FIRST = 1\n  SECOND=2 # that is all\n"],
    ["quotes", "FIRST=\"1\"\nSECOND='2'\n"],
    ["names that are not asked for", "app.name-2=\nFIRST=1\nSECOND=2\n"],
  ])("takes %s", (_, text) => {
    expect(load(text)).toEqual({ FIRST: "1", SECOND: "2" });
  });

  it("takes a quoted value of many lines", () => {
    expect(load('FIRST="a\nhello\nb"\nSECOND=2\n')).toEqual({ FIRST: "a\nhello\nb", SECOND: "2" });
  });

  it("wins over the environment, which gives what it leaves out", () => {
    vi.stubEnv("FIRST", "environment");
    vi.stubEnv("SECOND", "environment");
    expect(load("FIRST=file\nSECOND=")).toEqual({ FIRST: "file" });
    expect(load("FIRST=file\n")).toEqual({ FIRST: "file", SECOND: "environment" });
    vi.unstubAllEnvs();
  });

  it.each([
    ["a secret alone", "whsec_hello", 1],
    ["a colon", "FIRST=1\n# more\n\nSECOND: whsec_hello\n", 4],
    ["no name", "FIRST=1\r\n=whsec_hello\r\n", 2],
    ["two words", "whsec hello=1", 1],
    ["a line after a value of many lines", 'FIRST="a\nb"\nwhsec_hello\n', 3],
  ])("refuses %s by its line, and never shows it", (_, text, line) => {
    const form = /secrets\.env is not of the form NAME=value/;
    expect(() => load(text)).toThrow(form);
    expect(() => load(text)).toThrow(`--secrets-file: line ${line} of `);
    expect(() => load(text)).not.toThrow(/hello/);
  });
});
