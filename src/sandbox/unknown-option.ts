/** What to say of an option that there is not: what it is likely meant to be, then all that there are. */
export function explainUnknownOption(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  const guess = near === undefined ? "" : ` Did you mean ${near}?`;
  return `There is no option ${JSON.stringify(name)} of createSandbox.${guess} Its options:\n${wrap([...known].sort())}`;
}

/** The known name with the fewest letters changed: at most one in three, so that no guess is far-fetched. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const changesMax = Math.max(1, Math.floor(name.length / 3));
  const [first] = known
    .filter((each) => Math.abs(each.length - name.length) <= changesMax)
    .map((each) => ({ each, changes: countChanges(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ changes }) => changes <= changesMax)
    .sort((a, b) => a.changes - b.changes);
  return first?.each;
}

/** Letters to add, drop or replace (Levenshtein), row by row of the usual table. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const letter of from) {
    let [diagonal = 0] = row;
    let left = diagonal + 1;
    const rest = row.slice(1).map((above, column) => {
      left = Math.min(left + 1, above + 1, diagonal + (letter === to[column] ? 0 : 1));
      diagonal = above;
      return left;
    });
    row = [(row[0] ?? 0) + 1, ...rest];
  }
  return row.at(-1) ?? 0;
}

const columnsMax = 80;

/** Names in lines that a terminal shows whole. */
function wrap(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names) {
    const longer = `${lines.at(-1) ?? ""}, ${name}`;
    if (lines.length > 0 && longer.length < columnsMax) lines[lines.length - 1] = longer;
    else lines.push(`  ${name}`);
  }
  return lines.join(",\n");
}
