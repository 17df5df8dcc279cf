/** The shape that pino's and the console's loggers share. `fields` never hold a secret, a signature or a payload. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The same logger, whose own faults stay its own: what can't be logged must not change an answer. */
export function unfailing(logger: Logger): Logger {
  const quietly = (level: keyof Logger) => (fields: LogFields, message: string) => {
    try {
      logger[level](fields, message);
    } catch {
      // There is nobody left to tell.
    }
  };
  return { debug: quietly("debug"), info: quietly("info"), warn: quietly("warn"), error: quietly("error") };
}
