import { ok } from "../../shared/result.ts";
import type { FormProblem } from "../pages/form-problem.ts";
import { explain, refuseFields } from "../wire/refusal.ts";
import type { Granted, Refusal } from "../wire/refusal.ts";

const textFields = new Set(["webhookUrl", "reason"]);

/** A form of the control page as a call of the JSON interface. Empty fields are left out. */
export function readControlForm(path: string, form: URLSearchParams): Granted<Record<string, unknown>> {
  const filled = Array.from(form).filter(([, value]) => value !== "");
  const input = Object.fromEntries(filled.map(([name, value]) => [name, toValue(name, value)]));
  if (path === "clock/advance") return readSeconds(input);
  return ok(path === "faults" ? withDelay(input) : input);
}

/** A number where a field holds one. What is none stays text, and is refused as such. */
function toValue(name: string, value: string): string | number {
  const number = Number(value);
  return textFields.has(name) || value.trim() === "" || Number.isNaN(number) ? value : number;
}

const secondsMax = 1e9;

function readSeconds({ seconds }: Record<string, unknown>): Granted<Record<string, unknown>> {
  if (typeof seconds === "number" && seconds >= 0 && seconds <= secondsMax)
    return ok({ ms: seconds * 1_000 });
  const message = `seconds must be a number from 0 to ${secondsMax}.`;
  return refuseFields({ field: "seconds", message });
}

/** The page has two fields where the interface has a list; one alone is both. */
function withDelay(input: Record<string, unknown>): Record<string, unknown> {
  const { delayLeast, delayMost, ...faults } = input;
  if (delayLeast === undefined && delayMost === undefined) return faults;
  return { ...faults, delayMs: [delayLeast ?? 0, delayMost ?? delayLeast] };
}

/** A refused form for the page: each problem, and the typed texts. */
export function toProblem(path: string, form: URLSearchParams, refusal: Refusal): FormProblem {
  const { validationErrors = [] } = refusal;
  const problems =
    validationErrors.length > 0 ? validationErrors.map(({ message }) => message) : [explain(refusal)];
  return { path, problems, values: Object.fromEntries(form) };
}
