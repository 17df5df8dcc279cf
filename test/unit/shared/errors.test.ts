import { describe, expect, it } from "vitest";
import { nameOfError, originOf } from "../../../src/shared/errors.ts";

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const stumble = () => {
  throw new TypeError("what was stored");
};

const stumbleLater = async () => {
  await Promise.resolve();
  throw new Error("x");
};

describe("the place of an error", () => {
  it("is who made it, in which file and line", () => {
    expect(originOf(thrown(stumble))).toMatch(/^stumble \(errors\.test\.ts:\d+:\d+\)$/);
  });

  it.each([
    "at evil (payload.js:1:1)",
    "\n    at evil (payload.js:1:1)",
    "x\n    at y:1:1\n    at z:2:2",
    "",
  ])("quotes nothing of its message: %j", (message) => {
    const error = thrown(() => {
      throw new Error(message);
    });
    expect(originOf(error)).toMatch(/\(errors\.test\.ts:\d+:\d+\)$/);
  });

  it.each([
    undefined,
    null,
    "text",
    7,
    {},
    { stack: 7, message: "x" },
    { stack: "no frames", message: "no frames" },
    { stack: "secret\n    at secret text (secret.js)", message: "other" },
  ])("is not known of %j", (error) => {
    expect(originOf(error)).toBeUndefined();
  });

  it("is known of a rejection inside an async function", async () => {
    const error: unknown = await stumbleLater().catch((cause: unknown) => cause);
    expect(originOf(error)).toMatch(/^stumbleLater \(errors\.test\.ts:\d+:\d+\)$/);
  });
});

it("the name of an error is its class and code, and of what is no error its type", () => {
  expect(nameOfError(Object.assign(new RangeError("secret"), { code: "E_X" }))).toBe("RangeError E_X");
  expect(nameOfError(new TypeError("secret"))).toBe("TypeError");
  expect(["secret", 7, undefined, {}].map(nameOfError)).toEqual(["string", "number", "undefined", "object"]);
});
