import { destination, pino } from 'pino';

/** Where log lines go. A pino logger has these methods. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * The application's logger, or else JSON on standard output. If the application's logger throws, the line goes to
 * standard error: no request and no recovery fails because it cannot be logged.
 */
export function resolveLogger(given: Logger | undefined): Logger {
  return given ? new GuardedLogger(given) : jsonLog();
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

/** A logger that adds these fields to every line. */
export function withFields(log: Logger, added: object): Logger {
  return new LoggerWithFields(log, added);
}

/** There is one for each request: methods that are not made anew each time. */
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

  /** For an object literal that begins with spread properties, V8 may make a hidden class each time: half a kilobyte that lasts. */
  #with(fields: object): object {
    return Object.assign({}, this.#added, fields);
  }
}

/** A logger that writes JSON lines to standard output. */
export function jsonLog(level = 'info'): Logger {
  standardOutput ??= new StandardOutput();
  return pino({ name: 'tidemark', level }, standardOutput);
}

let standardOutput: StandardOutput | undefined;

/** So much is written to a pipe as a whole, even if several processes write to it. */
const pipeBytes = 4_096;

/** Writes the lines of one turn of the event loop together: many requests may be answered in one. */
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

const MAX_CAUSES = 8;
const MAX_TEXT_LENGTH = 8_192;

/** What is copied from an error. Not Postgres's `detail`, `where` and `internalQuery`: they quote rows. */
const errorKeys = ['name', 'message', 'stack', 'code', 'schema', 'table', 'column', 'constraint', 'routine'] as const;

/**
 * Describes what was thrown as a plain object that is safe to log: without cycles and getters, and bounded in size.
 * Never throws.
 */
export function describeError(thrown: unknown): object {
  return describe(thrown, MAX_CAUSES);
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

/** Postgres's class 22: its messages quote the value that it could not take. */
const dataException = /^22[0-9A-Z]{3}$/;

/** Takes what is quoted out of the message. A value may have quotes in it, too. */
function withholdValue(described: Record<string, unknown>): void {
  const message = String(described.message);
  const told = message.replace(/".*"/s, '"…"');
  described.message = told;
  if (typeof described.stack === 'string') described.stack = described.stack.replace(message, () => told);
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
    return String(value).slice(0, MAX_TEXT_LENGTH);
  } catch {
    return 'a value that cannot be shown';
  }
}
