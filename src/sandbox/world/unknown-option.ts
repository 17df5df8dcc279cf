/** The message for an unknown option: it lists all that exist. */
export function explainUnknownOption(name: string, known: readonly string[]): string {
  return `There is no option ${JSON.stringify(name)} of createSandbox. Its options:\n${wrap([...known].sort())}`;
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
