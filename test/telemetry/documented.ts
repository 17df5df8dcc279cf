/** The names in the tables of `docs/telemetry.md`. */
import { readText } from "../unit/docs/pages.ts";

const page = readText("docs/telemetry.md");

/** The rows of a section's tables that begin with a name, as cells without backquotes. */
function rowsOf(heading: string): string[][] {
  const [, section = ""] = new RegExp(`^## ${heading}$([^]*?)(?=^## |$(?![^]))`, "m").exec(page) ?? [];
  return [...section.matchAll(/^\| `(.*)\|$/gm)].map(([, row = ""]) =>
    row.split("|").map((cell) => cell.replaceAll("`", "").trim()),
  );
}

export interface DocMetric {
  readonly name: string;
  readonly prometheus: string;
  readonly kind: string;
  readonly labels: readonly string[];
}

export const docMetrics: readonly DocMetric[] = rowsOf("Metrics")
  .filter(([name = ""]) => name.startsWith("escrow_mirror."))
  .map(([name = "", prometheus = "", kind = "", labels = ""]) => ({
    name,
    prometheus,
    kind,
    labels: labels === "" ? [] : labels.split(", "),
  }));

export const docSpans: readonly string[] = rowsOf("Spans")
  .map(([name = ""]) => name)
  .slice(0, 2);

/** The attributes of a span: `receive` or `job`. */
export function docAttributes(span: string): string[] {
  return rowsOf("Spans")
    .filter(([, spans = ""]) => spans.split(", ").includes(span))
    .map(([name = ""]) => name);
}
