import { destination, pino } from 'pino';

/** Receives log lines. A pino logger has these methods. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Returns the application's logger, or else one that writes JSON to standard output. If the application's logger
 * throws, the line goes to standard error, so that no request and no recovery fails because of the log.
 */
export function resolveLogger(logger: Logger | undefined): Logger {
  return logger ? new GuardedLogger(logger) : jsonLog();
}

class GuardedLogger implements Logger {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }

  #write(level: keyof Logger, fields: object, message: string): void {
    try {
      this.#log[level](fields, message);
    } catch (error) {
      console.error(`The option \`log\` threw ${textOf(error)}. It was called with: ${level}: ${message}`);
    }
  }
}

/** Returns a logger that adds these fields to every line. */
export function withFields(log: Logger, added: object): Logger {
  return new LoggerWithFields(log, added);
}

/** A class, because each request creates one: the methods are on the prototype. */
class LoggerWithFields implements Logger {
  readonly #log: Logger;
  readonly #added: object;

  constructor(log: Logger, added: object) {
    this.#log = log;
    this.#added = added;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(this.#with(fields), message);
  }

  info(fields: object, message: string): void {
    this.#log.info(this.#with(fields), message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(this.#with(fields), message);
  }

  error(fields: object, message: string): void {
    this.#log.error(this.#with(fields), message);
  }

  /** For a literal that begins with a spread, V8 may create a hidden class each time, and keeps its half kilobyte. */
  #with(fields: object): object {
    return Object.assign({}, this.#added, fields);
  }
}

/** Returns a logger that writes JSON lines to standard output. */
export function jsonLog(level = 'info'): Logger {
  standardOutput ??= new StandardOutput();
  return pino({ name: 'tidemark', level }, standardOutput);
}

let standardOutput: StandardOutput | undefined;

/** The system writes up to this many bytes to a pipe atomically, even if several processes write to it. */
const pipeBytes = 4_096;

/** Writes the lines of one turn of the event loop together, because one turn may answer many requests. */
class StandardOutput {
  readonly #output = destination({ dest: 1, sync: true });
  #lines = '';
  #bytes = 0;

  constructor() {
    process.on('exit', () => this.#flush());
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > pipeBytes) this.#flush();
    if (this.#lines === '') setImmediate(() => this.#flush());
    this.#lines += line;
    this.#bytes += bytes;
  }

  #flush(): void {
    if (this.#lines !== '') this.#output.write(this.#lines);
    this.#lines = '';
    this.#bytes = 0;
  }
}

const maxCauses = 8;
const maxTextLength = 8_192;

/** The properties copied from an error. Omits Postgres's `detail`, `where` and `internalQuery`, which quote rows. */
const errorKeys = ['name', 'message', 'stack', 'code', 'schema', 'table', 'column', 'constraint', 'routine'] as const;

/**
 * Describes a thrown value as a plain object that is safe to log: without cycles and getters, and of limited size.
 * Never throws.
 */
export function describeError(thrown: unknown): object {
  return describe(thrown, maxCauses);
}

function describe(thrown: unknown, causesLeft: number): object {
  if (typeof thrown !== 'object' || thrown === null) return { thrown: textOf(thrown) };
  const described: Record<string, unknown> = {};
  for (const key of errorKeys) {
    const value = read(thrown, key);
    if (typeof value === 'string' || typeof value === 'number') described[key] = textOf(value);
  }
  if (dataException.test(String(described.code))) withholdValue(described);
  const cause = read(thrown, 'cause');
  if (cause != null && causesLeft > 0) described.cause = describe(cause, causesLeft - 1);
  return Object.keys(described).length > 0 ? described : { thrown: textOf(thrown) };
}

/** Postgres's error class 22, data exceptions. Their messages quote the rejected value. */
const dataException = /^22[0-9A-Z]{3}$/;

/** Removes the quoted value from the message, up to the last quote: the value itself may contain quotes. */
function withholdValue(described: Record<string, unknown>): void {
  const message = String(described.message);
  const redacted = message.replace(/".*"/s, '"…"');
  described.message = redacted;
  if (typeof described.stack === 'string') described.stack = described.stack.replace(message, () => redacted);
}

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  try {
    return String(value).slice(0, maxTextLength);
  } catch {
    return 'a value that cannot be shown';
  }
}
