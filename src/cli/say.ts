import type { Logger } from '../log.js';

/** Prints a message for the user to standard error. Standard output is for results and for the server's log. */
export function say(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** A logger that prints its messages for the user, without the fields. Leaves out debug messages. */
export const saying: Logger = {
  debug() {},
  info: (_, message) => say(message),
  warn: (_, message) => say(message),
  error: (_, message) => say(message),
};

/** The command line is wrong. The message is a sentence without a full stop; `main` appends a pointer to the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
