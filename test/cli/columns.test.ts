import { describe, expect, it } from "vitest";
import { createTable, type Column } from "../../src/cli/lib/columns.ts";
import { plain } from "../../src/cli/lib/plain.ts";
import { readAge, readSince, shownAge, shownAmount, shownTime } from "../../src/cli/lib/values.ts";
import { widthOf } from "../../src/cli/lib/width.ts";

interface Row {
  readonly id: string;
  readonly detail: string;
}

const columns: readonly Column<Row>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "DETAIL", of: ({ detail }) => detail },
];
const long = { id: "CNT-17", detail: "the shop's mail server refused the mail, and so did the other one" };

describe("a table", () => {
  it("puts each row on one line where there is no terminal, however long it is", () => {
    expect(createTable(columns, undefined).lines([long])).toEqual([
      "ID      DETAIL",
      "CNT-17  the shop's mail server refused the mail, and so did the other one",
    ]);
  });

  it("breaks the last column between words on a terminal, and loses none", () => {
    expect(createTable(columns, 40).lines([long])).toEqual([
      "ID      DETAIL",
      "CNT-17  the shop's mail server refused",
      "        the mail, and so did the other",
      "        one",
    ]);
  });

  it("gives each cell a line of its own where the terminal is too narrow", () => {
    expect(createTable(columns, 20).lines([long])).toEqual(["ID      CNT-17", `DETAIL  ${long.detail}`, ""]);
  });

  it("has its head once, and columns that only get wider from page to page", () => {
    const table = createTable(columns, undefined);
    expect(table.lines([{ id: "1", detail: "a" }])).toEqual(["ID  DETAIL", "1   a"]);
    expect(table.lines([{ id: "1000", detail: "b" }])).toEqual(["1000  b"]);
    expect(table.lines([{ id: "2", detail: "c" }])).toEqual(["2     c"]);
  });

  it("measures text as a terminal shows it", () => {
    expect([widthOf("abc"), widthOf("عقد"), widthOf("合同"), widthOf("e\u0301")]).toEqual([3, 3, 4, 1]);
  });
});

describe("text of others", () => {
  it("moves no cursor and turns no line around", () => {
    expect(plain("a\u001B[2Jb\nc\u202Ed")).toBe("a\\u001b[2Jb\\nc\\u202ed");
  });
});

describe("values", () => {
  it.each([
    [null, "-"],
    [0, "0.00 SAR"],
    [5, "0.05 SAR"],
    [60_000, "600.00 SAR"],
    [-123_456_789, "-1,234,567.89 SAR"],
    [Number.MAX_SAFE_INTEGER, "90,071,992,547,409.91 SAR"],
  ])("the amount %j is %s", (minor, text) => {
    expect(shownAmount(minor, "SAR")).toBe(text);
  });

  it("a time is shown to the second, an age in its largest unit", () => {
    const now = Date.parse("2026-03-20T09:00:00Z");
    expect(shownTime("2026-03-08T10:00:00.1234567Z")).toBe("2026-03-08 10:00:00Z");
    // The service's own text may stand in its place.
    expect(shownTime("\u001B[2J\n")).toBe("\\u001b[2J\\nZ");
    // A contract that was erased before it arrived has no time.
    expect([shownTime(""), shownAge("", now)]).toEqual(["-", "-"]);
    expect(shownAge("2026-03-08T10:00:00Z", now)).toBe("11 days");
    expect(shownAge("2026-03-19T09:00:00Z", now)).toBe("1 day");
    expect(shownAge("2026-03-20T08:59:59Z", now)).toBe("1 second");
    expect(shownAge("2026-03-21T00:00:00Z", now)).toBe("0 seconds");
  });

  it("ages and times are read, and nothing that only looks like one", () => {
    expect([readAge("30d"), readAge("12h"), readAge("90m"), readAge("45s")]).toEqual([
      2_592_000_000, 43_200_000, 5_400_000, 45_000,
    ]);
    expect(readSince("2026-03-01T08:00:00+03:00")).toBe("2026-03-01T05:00:00.000Z");
    for (const wrong of ["", "0d", "soon", "1w", "-1d", "2026-13-01"])
      expect(() => readSince(wrong)).toThrow("Give a");
  });
});
