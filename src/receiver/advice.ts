import type { Reason } from "./outcome.ts";

/** Advice to people about requests that do not get 2xx, for the log and for `health()`. */
export const adviceOn: Readonly<Partial<Record<Reason, string>>> = {
  "signature-missing":
    "no signature header. If these are the service's, check webhook.headerPrefix, and that no proxy drops the header",
  "signature-malformed": "a signature that is not of this scheme. Check webhook.signature",
  "signature-mismatch":
    "signed with none of the secrets. Answered 401, which the service does not retry. Compare the secret with the service's; the log names the likely cause",
  "secret-unproven":
    "signed with none of the secrets. Answered 503, because the configured secret may be wrong. Compare the secret with the service's; the log names the likely cause",
  "timestamp-missing": "the signed timestamp is missing. Check webhook.signature, and that no proxy drops it",
  "timestamp-unparseable": "the signed timestamp is not in the scheme's unit. Check webhook.signature",
  "body-too-large": "answered 413: don't count on a retry. Raise webhook.maxBodyBytes",
  "raw-body-unavailable":
    "a parser consumed the body before the mirror got it. Mount the webhook's route before the app's JSON parser, or keep the bytes there and pass them as the body",
  "no-secret": "this mirror has no signing secret. Pass webhook.secrets to createMirror",
  "store-unavailable": "the store could not commit. The log says why",
  "intake-full": "too many deliveries wait for their commit. The store is too slow or stuck",
  "handler-failed": "an inTransaction handler failed. The log says which",
  unstorable: "they can't be applied; their bodies are stored. The log says why",
  "internal-error": "an unexpected error. Report it with its line of the log",
};
