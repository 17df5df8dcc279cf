/** A state machine as a Mermaid diagram, which GitHub and most editors can draw. */
import { statusesOf, type Machine, type MachineTransition } from "../domain/machine.ts";
import { canonicalStatus } from "../domain/status.ts";
import { groupBy } from "../shared/group-by.ts";

/** Options of `toMermaid`. */
export interface MermaidOptions {
  /**
   * Statuses to highlight, in order and in any case, such as one contract's history. A step that is not in the machine is
   * drawn too, with the label `not in the machine`.
   */
  readonly path?: readonly string[] | undefined;
}

/** Every row that leads from one status to another. */
interface Arrow {
  readonly from: string | null;
  readonly to: string;
  readonly label: string;
  readonly style: "spec" | "inferred" | "unexpected";
}

/**
 * Draws a machine as a Mermaid flowchart. Steps that the service documents are solid arrows; inferred ones are dashed.
 * A label names the webhooks of the step. On a solid arrow, an inferred webhook has a star. An arrow without a label has no
 * webhook. Terminal statuses have round ends.
 *
 * ```ts
 * const history = await mirror.contracts.history("CNT-1");
 * const path = history.filter(({ entity, moved }) => entity === "contract" && moved).map(({ to }) => to);
 * console.log(toMermaid(contractMachine, { path }));
 * ```
 */
export function toMermaid(machine: Machine, options: MermaidOptions = {}): string {
  const path = pathIn(machine, options.path ?? []);
  const arrows = [...arrowsOf(machine), ...unknownSteps(machine, path)];
  const statuses = [...new Set([...statusesOf(machine), ...path])];
  const idOf = (status: string | null): string =>
    status === null ? "start" : `s${statuses.indexOf(status)}`;
  const isTaken = stepsOf(path);
  const taken = arrows.flatMap(({ from, to }, index) => (isTaken(from, to) ? [index] : []));
  const lines = [
    "start(( ))",
    ...statuses.map((status) => idOf(status) + boxOf(machine, status)),
    ...arrows.map((arrow) => `${idOf(arrow.from)} ${lineOf(arrow)} ${idOf(arrow.to)}`),
    ...(path.length === 0 ? [] : highlight([...new Set(path)].map(idOf), taken)),
  ];
  return ["flowchart TB", ...lines.map((line) => `  ${line}`), ""].join("\n");
}

/** In the machine's spelling, and without steps from a status to itself. */
function pathIn(machine: Machine, path: readonly string[]): string[] {
  const statuses = path.map((status) => canonicalStatus(machine, status));
  return statuses.filter((status, index) => status !== statuses[index - 1]);
}

/** One arrow for each pair of statuses: labels of several would cover each other. */
function arrowsOf({ transitions }: Machine): Arrow[] {
  const groups = groupBy(transitions, ({ from, to }) => stepKey(from, to));
  return [...groups.values()].map((rows) => {
    const [{ from, to }] = rows as [MachineTransition];
    const style = rows.some(({ source }) => source === "spec") ? "spec" : "inferred";
    return { from, to, label: rows.flatMap((row) => eventOf(row, style)).join("<br/>"), style };
  });
}

function eventOf({ event, source }: MachineTransition, style: Arrow["style"]): string[] {
  if (event === null) return [];
  return [source === style ? textOf(event) : `${textOf(event)} *`];
}

function unknownSteps({ transitions }: Machine, path: readonly string[]): Arrow[] {
  const known = new Set(transitions.map(({ from, to }) => stepKey(from, to)));
  const steps = path.slice(1).map((to, index) => ({ from: path[index] ?? null, to }));
  const unknown = new Map(steps.map((step) => [stepKey(step.from, step.to), step]));
  return [...unknown]
    .filter(([key]) => !known.has(key))
    .map(([, step]) => ({ ...step, label: "not in the machine", style: "unexpected" }));
}

/** Whether a path takes the step. Where it begins is a step too. */
function stepsOf(path: readonly string[]): (from: string | null, to: string) => boolean {
  const steps = new Set(path.map((to, index) => stepKey(path[index - 1] ?? null, to)));
  return (from, to) => steps.has(stepKey(from, to));
}

function stepKey(from: string | null, to: string): string {
  return JSON.stringify([from, to]);
}

function boxOf({ terminal }: Machine, status: string): string {
  return terminal.includes(status) ? `(["${textOf(status)}"])` : `["${textOf(status)}"]`;
}

function lineOf({ label, style }: Arrow): string {
  const line = { spec: "-->", inferred: "-.->", unexpected: "==>" }[style];
  return label === "" ? line : `${line}|"${label}"|`;
}

function highlight(ids: readonly string[], arrows: readonly number[]): string[] {
  return [
    "classDef path fill:#ffe08a,stroke:#8a6100,stroke-width:3px,color:#000",
    `class ${ids.join(",")} path`,
    ...(arrows.length === 0 ? [] : [`linkStyle ${arrows.join(",")} stroke:#c77700,stroke-width:3px`]),
  ];
}

/** Statuses and events may be the service's own text: nothing in it may end the quotes or begin markup. */
function textOf(text: string): string {
  return text.replaceAll(/[^\w .-]/gu, (sign) => `#${sign.codePointAt(0)};`);
}
