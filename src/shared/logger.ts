/** The shape that pino's and the console's loggers share. `fields` never hold a secret, a signature or a payload. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
