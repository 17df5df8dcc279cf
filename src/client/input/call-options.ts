import { z } from "zod";
import type { CallOptions } from "../http/call.ts";

/** The options of every call. */
export const callOptionsSchema = z.strictObject({
  signal: z
    .custom<AbortSignal>((value) => typeof (value as AbortSignal | null)?.addEventListener === "function", {
      error: "expected an AbortSignal",
    })
    .optional(),
  onAnswer: z
    .custom<NonNullable<CallOptions["onAnswer"]>>((value) => typeof value === "function", {
      error: "expected a function",
    })
    .optional(),
});
