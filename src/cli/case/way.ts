/** Writes the way of a contract in one line: its past statuses, the present one, and the possible next ones. */
import { contractMachine } from "../../domain/contract.ts";
import { hasStep } from "../../domain/machine.ts";
import type { MirroredContract, Transition } from "../../queries/shapes.ts";
import { styled } from "../lib/columns.ts";
import { plain } from "../lib/plain.ts";

/** `pending → Approved → [Escrow] → Dispute | Released | …`. Three dots stand for statuses that the mirror has not seen. */
export function wayOf({ status }: MirroredContract, history: readonly Transition[]): string {
  const moves = history.filter(({ entity, moved }) => entity === "contract" && moved);
  const past = moves.map(({ from, to }, at) => (at === 0 ? first(from, to) : step(from, to)));
  const way = past.length === 0 ? plain(status) : past.join("");
  const cut = way.lastIndexOf(plain(status));
  const here = cut < 0 ? way : `${way.slice(0, cut)}${styled("bold", `[${plain(status)}]`)}`;
  return here + ahead(status);
}

function first(from: string | null, to: string): string {
  return from === null ? plain(to) : `${plain(from)}${step(from, to)}`;
}

function step(from: string | null, to: string): string {
  return from === null || hasStep(contractMachine, from, to) ? ` → ${plain(to)}` : ` → … → ${plain(to)}`;
}

function ahead(status: string): string {
  if (contractMachine.terminal.includes(status)) return " (the end)";
  const next = contractMachine.transitions.filter(({ from }) => from === status).map(({ to }) => to);
  return next.length === 0 ? "" : ` → ${[...new Set(next)].join(" | ")}`;
}
