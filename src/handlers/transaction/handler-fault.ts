/** The two faults that roll back a commit because of a handler inside it. */
import { EscrowMirrorError, nameOfError } from "../../shared/errors.ts";
import { isStoreFault } from "../thrown.ts";

/** The delivery at which a handler failed. */
interface Failed {
  readonly digest: string;
  readonly contractId: string | null;
}

/** A handler failed inside a delivery's transaction, which is rolled back. The service sends the delivery again. */
export class HandlerFault extends EscrowMirrorError {
  readonly digest: string;
  readonly handler: string;
  readonly contractId: string | null;
  /** Whether the store failed while the handler ran. This counts against the handler only after several times. */
  readonly isOfStore: boolean;

  constructor({ digest, contractId }: Failed, handler: string, cause: unknown) {
    const message = `handler ${handler} threw inside the delivery's transaction, which was rolled back (${nameOfError(cause)})`;
    super("handler-failed", message, { cause });
    this.digest = digest;
    this.handler = handler;
    this.contractId = contractId;
    this.isOfStore = isStoreFault(cause);
  }
}

/**
 * The handlers have used up their time in this commit. The error has no code, so it counts as a fault of one arrival: the
 * batch is halved, and each half gets the whole time.
 */
export class TimeIsUp extends Error {
  override readonly name = "TimeIsUp";
}

export function isHandlerFault(error: unknown): error is HandlerFault {
  return error instanceof HandlerFault;
}
