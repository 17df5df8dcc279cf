import type { ConformanceReport } from "../../src/testing.ts";

/** @throws where a check failed, or could not be seen; the message names each */
export function expectConforming({ checks }: ConformanceReport): void {
  const wrong = checks.filter(({ ok, got }) => !ok || got === "not observable");
  if (wrong.length > 0)
    throw new Error(`fails: ${wrong.map(({ name, got }) => `${name}: ${got}`).join("; ")}`);
}
