import { expect, it } from "vitest";
import { callInTime } from "../../../src/handlers/call-in-time.ts";

const limits = { handler: "mail", timeoutMs: 20 };
const untilTold = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
const forever = (): Promise<never> => new Promise(() => {});

it("a handler that does not end in its time is told by its signal, and left alone", async () => {
  let reason: unknown;
  const call = (signal: AbortSignal): Promise<never> => {
    signal.addEventListener("abort", () => (reason = signal.reason));
    return forever();
  };
  await expect(callInTime(limits, call)).rejects.toMatchObject({ name: "TimeoutError" });
  expect(reason).toMatchObject({ name: "TimeoutError" });
});

it("a handler that is told to stop may end well", async () => {
  const stopping = new AbortController();
  const calling = callInTime({ ...limits, timeoutMs: 60_000, stop: stopping.signal }, untilTold);
  stopping.abort(new Error("closing"));
  await expect(calling).resolves.toBeUndefined();
});

it("a handler that is told to stop and does not is left alone when its time is over", async () => {
  const stop = AbortSignal.abort(new Error("another process has the job"));
  await expect(callInTime({ ...limits, stop }, forever)).rejects.toMatchObject({ name: "TimeoutError" });
});
