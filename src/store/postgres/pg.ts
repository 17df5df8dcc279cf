/** The parts of `pg` that the store uses. They are typed by shape, so that any copy fits. */

/** A pool of `pg`. */
export interface PgPool {
  /** Where it connects to, for messages. */
  readonly options?: {
    /** The address. */
    readonly connectionString?: string | undefined;
    /** The host. */
    readonly host?: string | undefined;
    /** The port. */
    readonly port?: number | undefined;
    /** The database. */
    readonly database?: string | undefined;
    /** How many connections the pool may open. */
    readonly max?: number | undefined;
  };
  /** Lends a client. */
  connect(callback: (error: Error | undefined, client: PgClient | undefined) => void): void;
  /** Adds a listener for errors of idle clients. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Closes all connections. */
  end(): Promise<unknown>;
}

/** A client of `pg`. */
export interface PgClient {
  /** Runs a statement. */
  query(query: PgQuery): Promise<PgResult>;
  /** Whether queries are sent before the last one is answered. */
  readonly pipeline?: boolean;
  /** The connection to the server. */
  readonly connection?: {
    /** Its socket. */
    readonly stream?: {
      /** Ends the connection at once. */
      destroy(): void;
    };
  };
  /** Returns the parser of a type. */
  getTypeParser(oid: number, format?: "text"): (text: string) => unknown;
  /** Adds a listener for errors. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Adds a listener for the end of the connection. */
  on(event: "end", listener: () => void): unknown;
  /** Adds a listener for notifications. */
  on(event: "notification", listener: (message: PgNotification) => void): unknown;
  /** Removes a listener. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  /** `true` destroys the client instead of giving it back. */
  release(destroy?: boolean): void;
}

/** A message of NOTIFY. */
export interface PgNotification {
  /** Its text. */
  readonly payload?: string | undefined;
}

/** A statement as `pg` takes it. */
export interface PgQuery {
  /** The SQL. */
  readonly text: string;
  /** The parameters. */
  readonly values?: unknown[];
  /** `array`: rows come as arrays. */
  readonly rowMode?: "array";
  /** Parsers that replace those of the app. */
  readonly types?: {
    /** Returns the parser of a type. */
    getTypeParser(oid: number, format?: string): (text: string) => unknown;
  };
}

/** A result, or one for each statement of a text with several. */
export type PgResult = PgAnswer | PgAnswer[];

/** The result of one statement. */
export interface PgAnswer {
  /** The rows. */
  rows: unknown[];
  /** How many rows it gave or wrote. */
  rowCount?: number | null;
}
