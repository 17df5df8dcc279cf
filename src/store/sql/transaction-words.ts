/** Statements by which a handler would begin, end or undo a transaction. */

/** A comment is read in one way alone: a line of dashes would have millions. */
const opening = String.raw`^(?:\s|;|--[^\n\r]*(?:[\n\r]|$)|/\*(?:[^*]|\*(?!/))*\*/)*`;
const toSavepoint = String.raw`\s+(?:(?:work|transaction)\s+)?to\b`;

const ending = new RegExp(
  String.raw`${opening}(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!${toSavepoint}))\b`,
  "i",
);
const goingBack = new RegExp(`${opening}rollback${toSavepoint}`, "i");

/** Whether it begins or ends a transaction. To go back to a savepoint does neither. */
export function isEnding(sql: string): boolean {
  return ending.test(sql);
}

/** Whether it goes back to a savepoint. */
export function isGoingBack(sql: string): boolean {
  return goingBack.test(sql);
}
