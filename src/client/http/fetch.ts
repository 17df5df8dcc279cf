/** The `fetch` that the client calls. The platform's own fits. It must not repeat requests by itself. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The request that is passed to `fetch`. */
export interface FetchInit {
  /** `GET`, `POST` or `DELETE`. */
  readonly method: string;
  /** Header names and values. */
  readonly headers: Record<string, string>;
  /** The body's text; absent where there is none. */
  readonly body?: string;
  /** Redirects must not be followed: they could carry the token to another host. */
  readonly redirect: "manual";
  /** Aborts the request at its deadline, or when the caller aborts. */
  readonly signal: AbortSignal;
}

/** The parts of a response that the client reads. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, by names in any casing. */
  readonly headers: {
    /** Returns a header's value, or `null`. */
    get(name: string): string | null;
  };
  /** The body as an async iterable of bytes; `null` where there is none. */
  readonly body: unknown;
}
