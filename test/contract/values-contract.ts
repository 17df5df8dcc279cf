/** What goes into a store comes out of it, whatever a database makes of such values. */
import { describe, expect, it } from "vitest";
import type { EventFacts } from "../../src/events/event.ts";
import { factsOf, sha256 } from "../support/delivery.ts";
import { eachStore, type StoreContract } from "./each-store.ts";
import { contractRow, deliveryRow, payloadRow } from "./rows.ts";

const hostileTexts: readonly (readonly [string, string])[] = [
  ["NUL", "a\u0000b"],
  ["a lone high surrogate", "a\ud800b"],
  ["a lone low surrogate", "\udfff"],
  ["surrogates the wrong way round", "\udc00\ud800"],
  ["U+0010, our own escape", "\u0010"],
  ["U+0010 before digits", "\u00100041"],
  ["an emoji", "🎉👩‍👩‍👧"],
  ["right-to-left text", "دفعة ١٢٣"],
  ["a quote, a percent sign and a backslash", `'"%_\\;--`],
  ["line breaks", "a\r\nb\u2028c"],
  ["nothing", ""],
  ["spaces at both ends", "  a  "],
  ["a number's digits", "007"],
  ["a long text", "x".repeat(100_000)],
];

export function describeValues(contract: StoreContract): void {
  describe("a value comes back as it was:", () => {
    const at = eachStore(contract);
    const contractsWith = async (field: "title" | "amountMinor", value: string | number) => {
      const where = [{ field, op: "=", value }] as const;
      const rows = await at.store.read((reader) => reader.find("contracts", { where }));
      return rows.map(({ contractId }) => contractId);
    };

    it.each(hostileTexts)("text with %s", async (_, text) => {
      await at.insert("contracts", [contractRow(text, { title: text, notes: `${text}${text}` })]);
      expect(await at.all("contracts")).toMatchObject([
        { contractId: text, title: text, notes: `${text}${text}` },
      ]);
      expect(await contractsWith("title", text)).toEqual([text]);
      const found = await at.store.transaction((tx) => tx.lookup("contracts", "contractId", [text]));
      expect(found).toHaveLength(1);
    });

    it.each([0, 1, -1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER])(
      "the integer %d",
      async (amountMinor) => {
        await at.insert("contracts", [contractRow("A", { amountMinor })]);
        expect(await at.all("contracts")).toMatchObject([{ amountMinor }]);
        expect(await contractsWith("amountMinor", amountMinor)).toEqual(["A"]);
      },
    );

    it.each([true, false])("the boolean %s", async (statusDerived) => {
      await at.insert("contracts", [contractRow("A", { statusDerived })]);
      expect((await at.all("contracts"))[0]?.statusDerived).toBe(statusDerived);
    });

    it.each([
      ["every byte", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
      ["no byte", Buffer.alloc(0)],
      ["a megabyte", Buffer.alloc(1_048_576, 0xfe)],
    ])("bytes: %s", async (_, body) => {
      await at.insert("payloads", [payloadRow({ body })]);
      const [row] = await at.all("payloads");
      expect(row?.body).toBeInstanceOf(Uint8Array);
      expect(Buffer.compare(row?.body ?? Buffer.from("absent"), body)).toBe(0);
    });

    it("bytes of a view on a larger buffer", async () => {
      const whole = Buffer.from("before and after");
      await at.insert("payloads", [payloadRow({ body: whole.subarray(7, 10) })]);
      expect(Buffer.from((await at.all("payloads"))[0]?.body ?? "").toString()).toBe("and");
    });

    it.each([
      ["null", null],
      ["an array at the root", [1, null, "x", [], {}]],
      ["nested objects", { a: { b: [{ c: null }, [[]]] }, "": 0, __proto__x: 1 }],
      ["keys of any casing", { custom_fields: { field_ab: 1 }, PascalKey: 2, camelKey: 3, "0": 4 }],
      ["hostile text", { "k\u0000\ud800\u0010": "\u0000\udfff\u0010🎉" }],
      ["numbers", [0.1, 1e21, -0.5, Number.MAX_SAFE_INTEGER]],
      ["words that look like SQL", "null"],
    ])("JSON: %s", async (_, value) => {
      const facts = { value } as never;
      await at.insert("inputs", [
        { kind: "snapshot", contractId: "C", digest: sha256("s"), receivedAt: "", facts },
      ]);
      expect((await at.all("inputs"))[0]?.facts).toEqual({ value });
    });

    it("the facts of an event", async () => {
      const facts: EventFacts = factsOf("contract.created", {
        id: "e",
        seconds: 0,
        amount: 1.005,
        metadata: { metadata1: "é\u0010" },
      });
      await at.insert("deliveries", [deliveryRow("wh-1", { facts })]);
      expect((await at.all("deliveries"))[0]?.facts).toEqual(facts);
    });
  });
}
