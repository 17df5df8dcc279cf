/** Rows in columns, page by page, so that a list of any length begins at once. */
import process from "node:process";
import { styleText } from "node:util";
import { widthOf } from "./width.ts";
import { wrap } from "./wrap.ts";

/** One column of a table. */
export interface Column<Item> {
  /** The word above it. */
  readonly title: string;
  /** The text of a cell, safe to print. */
  readonly of: (item: Item) => string;
  /** A colour for the cell, on a terminal. */
  readonly style?: ((item: Item) => "red" | "yellow" | "green" | undefined) | undefined;
}

/** Puts pages of items into lines. */
export interface Table<Item> {
  lines(page: readonly Item[]): string[];
}

/** The least width in which a last column of free text is broken into lines. */
const textWidthMin = 24;
const gap = "  ";

/**
 * @param screen the width of the terminal; without one lines have any length, and each row is one line
 */
export function createTable<Item>(
  columns: readonly Column<Item>[],
  screen = process.stdout.isTTY ? process.stdout.columns : undefined,
): Table<Item> {
  const widths = columns.map(({ title }) => title.length);
  let isFirst = true;
  /** Decided by the first page, so that one list is not shown in two ways. */
  let isNarrow = false;

  function lines(page: readonly Item[]): string[] {
    const rows = page.map((item) => columns.map((column) => column.of(item)));
    for (const row of rows)
      for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
    if (isFirst) isNarrow = screen !== undefined && leastWidth(widths) > screen;
    const head = isFirst && !isNarrow ? [styled("bold", toLine(titlesOf(columns), widths))] : [];
    isFirst = false;
    const shown = rows.flatMap((row, at) => toLines(row, page[at] as Item));
    return [...head, ...shown];
  }

  function toLines(row: readonly string[], item: Item): string[] {
    const dressed = row.map((cell, at) => dress(cell, columns[at], item));
    if (isNarrow) return toRecord(titlesOf(columns), dressed);
    const room = screen === undefined ? Infinity : screen - leadWidth(widths);
    const [first = "", ...further] = wrap(row.at(-1) ?? "", room);
    const last = dress(first, columns.at(-1), item);
    const indent = " ".repeat(leadWidth(widths));
    return [toLine([...dressed.slice(0, -1), last], widths), ...further.map((part) => indent + part)];
  }

  return { lines };
}

function titlesOf<Item>(columns: readonly Column<Item>[]): string[] {
  return columns.map(({ title }) => title);
}

function lastOf(widths: readonly number[]): number | undefined {
  return widths.at(-1);
}

function leadWidth(widths: readonly number[]): number {
  return widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
}

function leastWidth(widths: readonly number[]): number {
  return leadWidth(widths) + Math.min(lastOf(widths) ?? 0, textWidthMin);
}

function dress<Item>(cell: string, column: Column<Item> | undefined, item: Item): string {
  const style = column?.style?.(item);
  return style === undefined ? cell : styled(style, cell);
}

/** A row that the terminal has no room for: a line for each cell, and a blank one. */
function toRecord(titles: readonly string[], cells: readonly string[]): string[] {
  const width = Math.max(...titles.map(({ length }) => length));
  return [...cells.map((cell, at) => `${(titles[at] ?? "").padEnd(width)}  ${cell}`), ""];
}

function toLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, at) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(cell))));
  return padded.join(gap).trimEnd();
}

/** Colour on a terminal only, and as NO_COLOR and FORCE_COLOR say. */
export function styled(style: "bold" | "dim" | "red" | "yellow" | "green", text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
