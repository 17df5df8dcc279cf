import { z } from "zod";
import { ageOf, timeOf } from "../queries/arguments.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { ReconcileProgress } from "./reconcile.ts";

/** How fast contracts are read. */
export interface ReadingOptions {
  /** How many contracts are read at once: 1 to 64. Default 4. */
  readonly concurrency?: number | undefined;
  /** How many contracts are read in a second at most: 1 to 10,000. Default 50. */
  readonly perSecondMax?: number | undefined;
  /** Stops the work: the call rejects with the signal's reason. Contracts that are done stay done. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `mirror.reconcile()`. */
export interface ReconcileOptions extends ReadingOptions {
  /**
   * When the trouble began: ISO 8601, or a `Date`. Older entries of the delivery log are left out, and so are contracts
   * that ended before. Default: everything.
   */
  readonly since?: string | Date | undefined;
  /** Only reports: the mirror stays as it is. Default `false`. */
  readonly dryRun?: boolean | undefined;
  /** Reads a contract in progress only if it had no news for this long. Milliseconds; default: reads all. */
  readonly olderThan?: number | undefined;
  /** Called after each contract. */
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined;
}

/** The options, checked, with their defaults. */
export interface ReconcileSettings extends ReadingSettings {
  readonly since: string | undefined;
  readonly dryRun: boolean;
  readonly olderThan: number | undefined;
  readonly onProgress: ReconcileOptions["onProgress"];
}

export interface ReadingSettings {
  readonly concurrency: number;
  readonly perSecondMax: number;
  readonly signal: AbortSignal | undefined;
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isSignal = (value: unknown): boolean =>
  typeof (value as Partial<AbortSignal> | null)?.throwIfAborted === "function";

const reading = {
  concurrency: z.int().min(1).max(64).default(4),
  perSecondMax: z.number().min(1).max(10_000).default(50),
  signal: z.custom<AbortSignal>(isSignal, "expected an AbortSignal").optional(),
};

const readingSchema = z.strictObject({
  ...reading,
  onProgress: z.custom(isFunction, "expected a function").optional(),
});

const reconcileSchema = readingSchema.extend({
  dryRun: z.boolean().default(false),
  since: z.unknown().optional(),
  olderThan: z.unknown().optional(),
});

/** @throws EscrowMirrorError `invalid-argument` that names the option */
export function parseReconcileOptions(options: ReconcileOptions): ReconcileSettings {
  const parsed = parse("reconcile", reconcileSchema, options);
  return {
    ...toReading(parsed),
    dryRun: parsed.dryRun,
    since: options.since === undefined ? undefined : timeOf(options.since, "since"),
    olderThan: options.olderThan === undefined ? undefined : ageOf(options.olderThan, "olderThan"),
    onProgress: options.onProgress,
  };
}

/** @throws EscrowMirrorError `invalid-argument` that names the option */
export function parseReadingOptions(caller: string, options: object): ReadingSettings {
  return toReading(parse(caller, readingSchema, options));
}

function toReading({ concurrency, perSecondMax, signal }: z.output<typeof readingSchema>): ReadingSettings {
  return { concurrency, perSecondMax, signal };
}

function parse<Schema extends z.ZodType>(caller: string, schema: Schema, options: unknown): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  const what = `${place === "" ? "" : `${place}: `}${issue?.message.replace("Invalid input: ", "") ?? ""}`;
  throw new EscrowMirrorError("invalid-argument", `mirror.${caller}: ${what}`);
}
