import type { Failure } from "../../reconcile/isolation.ts";
import { createTable, type Column } from "./columns.ts";
import { shown } from "./values.ts";

/** The contracts that could not be read, as a table below other text. No lines if there are none. */
export function failureLines(failures: readonly Failure[]): string[] {
  return failures.length === 0 ? [] : ["", ...createTable(columns).lines(failures)];
}

const columns: readonly Column<Failure>[] = [
  { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
  { title: "CODE", of: ({ code }) => shown(code) },
  { title: "FAILURE", of: ({ message }) => shown(message) },
];
