import type { Logger } from '../log.js';

/** Says something to whoever started the command. Standard output is for results and for the server's log. */
export function say(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** Says what happens on the way, and leaves out what is for machines. */
export const saying: Logger = {
  debug() {},
  info: (_, message) => say(message),
  warn: (_, message) => say(message),
  error: (_, message) => say(message),
};

/** The command line is wrong. The message is a sentence without its full stop; a pointer to the help follows it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
