/** Rows that are read page by page, each page in a transaction of its own: nobody waits for the length of a table. */

/** Where a row stands in an order, so that a page can begin after it: its values of the fields that order it. */
export type Place = readonly (string | number)[];

/** The last row of a full page: the next page begins after it. `undefined` if there is no next page. */
export function lastOfFull<Row>(page: readonly Row[], rowsMax: number): Row | undefined {
  return page.length < rowsMax ? undefined : page.at(-1);
}
