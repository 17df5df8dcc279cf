import { nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";

/** Runs work that calls the app's tracer or meter. If these throw, nothing changes for a delivery. */
export type Quietly = (work: () => void) => void;

/** The first fault is logged: each delivery would repeat it. */
export function createQuietly(logger: Logger): Quietly {
  let isTold = false;
  return (work) => {
    try {
      work();
    } catch (error) {
      if (!isTold) logger.warn({ step: "notify", error: nameOfError(error) }, broken);
      isTold = true;
    }
  };
}

const broken = "the tracer or the meter of the option telemetry threw: some spans or metrics are missing";
