import type { FormProblem } from "../pages/form-problem.ts";

const problemsMax = 100;

/** Why forms were refused, until the page that a browser is sent on to shows it. Only the newest are kept. */
export class FormProblems {
  readonly #problems = new Map<string, FormProblem>();
  #last = 0;

  /** Returns the id under which the page asks for it. */
  add(problem: FormProblem): string {
    const id = String(++this.#last);
    this.#problems.set(id, problem);
    if (this.#problems.size > problemsMax) this.#problems.delete(String(this.#last - problemsMax));
    return id;
  }

  get(id: string | null): FormProblem | undefined {
    return this.#problems.get(id ?? "");
  }
}
