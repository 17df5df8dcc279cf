import { html } from "./html.ts";
import type { HtmlPart } from "./html.ts";

/** Why a form was refused, and what was typed into it. */
export interface FormProblem {
  /** The form's action, below `/_sandbox/`. */
  path: string;
  /** A sentence each. */
  problems: readonly string[];
  values: Readonly<Record<string, string>>;
}

/** The problems of forms whose action begins with `path`. */
export function problemsAt(refused: FormProblem | undefined, path: string): HtmlPart {
  if (refused?.path.startsWith(path) !== true) return null;
  return html`<div class="notice warn" role="alert">
    ${refused.problems.map((problem) => html`<p>${problem}</p>`)}
  </div>`;
}

/** The typed text if the form was refused, else the present value. */
export function typedOr(
  refused: FormProblem | undefined,
  path: string,
  name: string,
  now: string | number | undefined,
): string | number | undefined {
  return refused?.path === path ? refused.values[name] : now;
}
