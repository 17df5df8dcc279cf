import type { Reason } from "./outcome.ts";

/** What a person must do about requests that are not answered 2xx, where it is theirs to do: for the log and for `health()`. */
export const adviceOn: Readonly<Partial<Record<Reason, string>>> = {
  "signature-missing":
    "no signature header. If these are the service's, check webhook.headerPrefix, and that no proxy drops the header",
  "signature-malformed": "a signature that is not of this scheme. Check webhook.signature",
  "signature-mismatch":
    "signed with none of the secrets, answered 401, which the service does not retry. Compare the secret with the service's; the log names the probable cause",
  "secret-unproven":
    "signed with none of the secrets, answered 503 while a wrong secret may be ours. Compare the secret with the service's; the log names the probable cause",
  "timestamp-missing": "the signed timestamp is missing. Check webhook.signature, and that no proxy drops it",
  "timestamp-unparseable": "the signed timestamp is not in the scheme's unit. Check webhook.signature",
  "body-too-large": "answered 413, which the service does not retry. Raise webhook.maxBodyBytes",
  "raw-body-unavailable":
    "the body was consumed by a parser before it came here. Mount the webhook's route before the app's JSON parser, or keep the bytes there and pass them as the body",
  "no-secret": "this mirror has no signing secret. Pass webhook.secrets to createMirror",
  "store-unavailable": "the store could not take them in. The log says why",
  "intake-full": "more deliveries wait than the intake holds. The store is too slow or stuck",
  "handler-failed": "an inTransaction handler failed. The log says which",
  unstorable: "they can't be applied, and their bodies are stored. The log says why",
  "internal-error": "a fault that nobody foresaw. Report it with the line in the log",
};
