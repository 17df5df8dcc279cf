import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { resolveScheme } from "../../../src/signature/scheme.ts";
import { parseSecrets, prepareSecret, prepareSecrets } from "../../../src/signature/secret.ts";
import { base64Secret, textSecret } from "./request.ts";

const utf8 = resolveScheme("default");
const base64 = resolveScheme("standard-webhooks");

const refused = expect.objectContaining({
  code: "invalid-configuration",
  message: expect.stringMatching(/Likely cause: .+ Fix: .+/),
});

describe("the secrets option", () => {
  it("gives a secret that stands alone the id default", () => {
    expect(parseSecrets("s3cret")).toEqual([{ id: "default", secret: "s3cret" }]);
    expect(parseSecrets({ secret: "s3cret" })).toEqual([{ id: "default", secret: "s3cret" }]);
  });

  it("numbers the entries of an array from 1 where they name no id", () => {
    const secrets = parseSecrets(["a", { id: "new", secret: "b", encoding: "base64" }, { secret: "c" }]);
    expect(secrets).toEqual([
      { id: "1", secret: "a" },
      { id: "new", secret: "b", encoding: "base64" },
      { id: "3", secret: "c" },
    ]);
  });

  it("cuts trailing line breaks off and keeps all other white space", () => {
    expect(parseSecrets("s3cret\n")[0]?.secret).toBe("s3cret");
    expect(parseSecrets("s3cret\r\n")[0]?.secret).toBe("s3cret");
    expect(parseSecrets(" s3cret ")[0]?.secret).toBe(" s3cret ");
  });

  const wrong: [string, unknown][] = [
    ["undefined", undefined],
    ["null", null],
    ["a number", 5],
    ["an empty string", ""],
    ["a blank string", " \t\n"],
    ["no secret at all", []],
    ["an array in an array", [["a"]]],
    ["a hole in an array", ["a", undefined]],
    ["an object without a secret", { id: "a" }],
    ["an empty id", { id: "", secret: "a" }],
    ["an id that is no text", { id: 1, secret: "a" }],
    ["an unknown encoding", { secret: "a", encoding: "hex" }],
    ["an unknown field", { secret: "a", key: "b" }],
    [
      "one id twice",
      [
        { id: "a", secret: "b" },
        { id: "a", secret: "c" },
      ],
    ],
    ["an id that is the place of another", [{ id: "2", secret: "b" }, "c"]],
  ];

  it.each(wrong)("is refused with cause and fix: %s", (_, option) => {
    expect(() => Reflect.apply(parseSecrets, undefined, [option])).toThrow(refused);
  });
});

describe("a prepared secret", () => {
  it("is the whole text under utf8, whsec_ included", () => {
    const [secret] = prepareSecrets(base64Secret, utf8);
    expect(secret?.key.export().toString()).toBe(base64Secret);
  });

  it.each([base64Secret, base64Secret.slice("whsec_".length), base64Secret.replace(/=+$/, "")])(
    "is the decoded bytes under base64, with or without whsec_ and padding",
    (text) => {
      expect(prepareSecrets(text, base64)[0]?.key.export().toString()).toBe(
        "0123456789abcdef0123456789abcdef",
      );
    },
  );

  it("follows its own encoding rather than the scheme's", () => {
    const own = prepareSecrets({ secret: base64Secret, encoding: "base64" }, utf8);
    expect(own[0]?.fingerprint).toBe(prepareSecrets(base64Secret, base64)[0]?.fingerprint);
  });

  it.each([
    "whsec_xyz!",
    "whsec_",
    textSecret,
    ` ${base64Secret}`,
    `"${base64Secret}"`,
    "AAAA====",
    "AAA\u0130",
  ])("is refused where base64 does not decode: %j", (text) => {
    expect(() => prepareSecrets(text, base64)).toThrow(refused);
  });

  it("is refused under 16 decoded bytes, and taken at 16", () => {
    const short = Buffer.alloc(15, 7).toString("base64");
    expect(() => prepareSecrets(short, base64)).toThrow(/15 bytes after base64/);
    expect(prepareSecrets(Buffer.alloc(16, 7).toString("base64"), base64)).toHaveLength(1);
  });

  it("has a fingerprint that is stable, of the key alone, and 16 hex digits", () => {
    const one = prepareSecret({ id: "a", secret: textSecret }, utf8);
    const again = prepareSecret({ id: "b", secret: textSecret }, utf8);
    const other = prepareSecret({ id: "a", secret: `${textSecret}0` }, utf8);
    expect(one.fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(again.fingerprint).toBe(one.fingerprint);
    expect(other.fingerprint).not.toBe(one.fingerprint);
  });

  it("shows nothing of the secret, inspected or as JSON", () => {
    const secrets = prepareSecrets([textSecret, { secret: base64Secret, encoding: "base64" }], utf8);
    const shown = inspect(secrets, { depth: 9, showHidden: true }) + JSON.stringify(secrets);
    expect(shown).not.toMatch(/0123456789abcdef|MDEyMzQ1/);
  });

  it.each(["whsec_hunter2hunter2!", "hunter2hunter2AAA"])("is not in the error that refuses it", (text) => {
    let thrown: unknown;
    try {
      prepareSecrets(text, base64);
    } catch (error) {
      thrown = error;
    }
    expect(inspect(thrown, { depth: 9 }) + JSON.stringify(thrown)).not.toContain("hunter2");
  });
});
