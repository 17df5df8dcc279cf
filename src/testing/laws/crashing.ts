/** A mirror whose handlers fail before their work, or crash after it. */
import type { Mirror } from "../../mirror/create-mirror.ts";

/** How many attempts of each job end before its handler runs, and how many after it has run. */
export interface Crash {
  readonly before: number;
  readonly after: number;
}

export const noCrash: Crash = { before: 0, after: 0 };

/** One attempt, as the timeline tells it. */
export interface RunAttempt {
  readonly handler: string;
  readonly about: string;
  readonly attempt: number;
  readonly fate: string;
}

type Registering = "on" | "onTransition" | "inTransaction";
type AnyHandler = (subject: unknown, context: { readonly idempotencyKey: string }) => unknown;
type AnyRegister = (on: unknown, run: AnyHandler, options: { readonly name: string }) => () => void;

/** The same mirror, but its handlers crash as `crash` says, and each attempt adds a line to `runs`. */
export function crashing(mirror: Mirror, crash: Crash, runs: RunAttempt[]): Mirror {
  const wrap = (kind: Registering): PropertyDescriptor => ({
    value: (on: unknown, run: AnyHandler, options: { readonly name: string }) => {
      const register = mirror[kind] as unknown as AnyRegister;
      return register(on, crashingHandler(run, options.name, crash, runs), options);
    },
  });
  return Object.create(mirror, {
    on: wrap("on"),
    onTransition: wrap("onTransition"),
    inTransaction: wrap("inTransaction"),
  }) as Mirror;
}

/** Attempts are counted here, because `ctx.attempt` begins again after a delivery was rolled back. */
function crashingHandler(run: AnyHandler, handler: string, crash: Crash, runs: RunAttempt[]): AnyHandler {
  const attempts = new Map<string, number>();
  return async (subject, context) => {
    const attempt = (attempts.get(context.idempotencyKey) ?? 0) + 1;
    attempts.set(context.idempotencyKey, attempt);
    const end = (fate: string): void => {
      runs.push({ handler, about: tell(subject), attempt, fate });
    };
    if (attempt <= crash.before) {
      end("failed before it ran");
      throw new Error("the kit fails this attempt before its side effect");
    }
    try {
      await run(subject, context);
    } catch (error) {
      end(`threw ${String(error)}`);
      throw error;
    }
    if (attempt <= crash.before + crash.after) {
      end("crashed after its side effect");
      throw new Error("the kit ends this attempt after its side effect");
    }
    end("done");
  };
}

function tell(subject: unknown): string {
  const { event, kind, contractId, from, to } = subject as Readonly<
    Record<string, string | null | undefined>
  >;
  const what = to === undefined ? (event ?? kind ?? "") : `${from ?? "·"} → ${to}`;
  return `${what} ${contractId ?? ""}`.trim();
}
