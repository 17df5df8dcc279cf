/** The shape that pino's and the console's loggers share. `fields` never hold a secret, a signature or a payload. */
export interface Logger {
  /** Logs details. */
  debug(fields: LogFields, message: string): void;
  /** Logs normal events. */
  info(fields: LogFields, message: string): void;
  /** Logs events that a person should check. */
  warn(fields: LogFields, message: string): void;
  /** Logs faults that a person must repair. */
  error(fields: LogFields, message: string): void;
}

/** The fields of a log line. They never hold a secret, a signature or a payload. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Where no logger is given: silent, except that deliveries which are not taken in because of the set-up would be lost unseen.
 * What is wrong is then a warning of the process, once for each cause.
 */
export function warningLogger(): Logger {
  const told = new Set<unknown>();
  const warn = (fields: LogFields, message: string): void => {
    const cause = fields["cause"] ?? fields["code"] ?? fields["reason"];
    if (told.has(cause)) return;
    told.add(cause);
    process.emitWarning(message, {
      type: "EscrowMirrorWarning",
      detail: "Pass createMirror a logger to see every case.",
    });
  };
  return {
    ...silentLogger,
    error: warn,
    warn: (fields, message) => {
      if (fields["step"] === "verify") warn(fields, message);
    },
  };
}

/**
 * The same logger, made safe for what a sender may have written: its own faults stay its own, so that what can't be logged
 * changes no answer, and a line stays one line.
 */
export function unfailing(logger: Logger): Logger {
  const quietly = (level: keyof Logger) => (fields: LogFields, message: string) => {
    try {
      logger[level](oneLineEach(fields), oneLine(message));
    } catch {
      // There is nobody left to tell.
    }
  };
  return { debug: quietly("debug"), info: quietly("info"), warn: quietly("warn"), error: quietly("error") };
}

/** Without what is absent: the console would print it. */
function oneLineEach(fields: LogFields): LogFields {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === "string" ? oneLine(value) : value]),
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}|[\u2028\u2029]/gu, (control) => escapeControl(control));
}

function escapeControl(control: string): string {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[control];
  return short ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
