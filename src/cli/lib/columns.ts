/** Prints rows in columns. It needs one page at a time, so a long list begins at once. */
import process from "node:process";
import { styleText } from "node:util";
import { widthOf } from "./width.ts";
import { wrap } from "./wrap.ts";

/** One column of a table. */
export interface Column<Item> {
  /** The heading. */
  readonly title: string;
  /** The text of a cell, safe to print. */
  readonly of: (item: Item) => string;
  /** The colour of the cell on a terminal. */
  readonly style?: ((item: Item) => "red" | "yellow" | "green" | undefined) | undefined;
}

/** Turns pages of items into lines. */
export interface Table<Item> {
  lines(page: readonly Item[]): string[];
}

/** A last column of free text is broken into lines that have at least this width. */
const textWidthMin = 24;
const gap = "  ";

/**
 * @param screen the width of the terminal. Without a terminal each row is one line of any length
 */
export function createTable<Item>(
  columns: readonly Column<Item>[],
  screen = process.stdout.isTTY ? process.stdout.columns : undefined,
): Table<Item> {
  const widths = columns.map(({ title }) => title.length);
  let isFirst = true;
  /** The first page decides, so that all pages of a list look the same. */
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
    const dressed = (cells: readonly string[]): string[] =>
      cells.map((cell, at) => dress(cell, columns[at], item));
    if (isNarrow) return toRecord(titlesOf(columns), dressed(row));
    const room = screen === undefined ? Infinity : screen - leadWidth(widths);
    const [first = "", ...further] = wrap(row.at(-1) ?? "", room);
    const indent = " ".repeat(leadWidth(widths));
    return [
      toLine(dressed([...row.slice(0, -1), first]), widths),
      ...further.map((part) => indent + dress(part, columns.at(-1), item)),
    ];
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

/** A row for a narrow terminal: a line for each cell, and a blank line. */
function toRecord(titles: readonly string[], cells: readonly string[]): string[] {
  const width = Math.max(...titles.map(({ length }) => length));
  return [...cells.map((cell, at) => `${(titles[at] ?? "").padEnd(width)}  ${cell}`), ""];
}

function toLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, at) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(cell))));
  return padded.join(gap).trimEnd();
}

/** Colours text on a terminal only. NO_COLOR and FORCE_COLOR change that. */
export function styled(style: "bold" | "dim" | "red" | "yellow" | "green", text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
