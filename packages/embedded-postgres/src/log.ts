/** Receives log lines. A pino logger has these methods, and so has the option `log` of `createSync`. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
