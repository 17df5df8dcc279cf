import type { Result } from "../../shared/result.ts";

/** One call of the service, as data: what is sent, how its answer is read, and whether it may be sent again. */
export interface ApiRequest<Data> {
  /** The method that the caller called, such as `contracts.create`: for messages. */
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly contentType?: string;
  readonly body?: string;
  /** `always`: it changes nothing. `unsent`: only where it is certain that the service did not do it. */
  readonly repeat: "always" | "unsent";
  /** How to learn whether a call without an answer was done; `""` for what changes nothing. */
  readonly findOut: string;
  /** The advice in a message if the service refuses the caller. */
  readonly ifUnauthorized: string;
  /** Reads the JSON of a successful answer; or says what is wrong with it, without quoting it. */
  readonly read: (json: unknown) => Result<Data, string>;
  /** Texts that no error may contain. */
  readonly secrets: readonly string[];
}
