import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../log.js';

/** The streams of the process that runs a command. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** The input and output of a command. */
export interface Terminal {
  readonly input: Readable;
  /** Prints a result. Standard output is for results and for the server's log. */
  print(text: string): void;
  /** Prints a message for the user to standard error. */
  say(message: string): void;
  /** True if messages go to a terminal, where a user reads them, rather than to a log. */
  readonly isInteractive: boolean;
  /** A logger that prints its messages for the user, without the fields. Leaves out debug messages. */
  readonly log: Logger;
}

export function createTerminal({ stdin, stdout, stderr }: Streams): Terminal {
  const say = (message: string) => void stderr.write(`${message}\n`);
  const logged = (_: object, message: string) => say(message);
  return {
    input: stdin,
    print: (text) => void stdout.write(text),
    say,
    isInteractive: 'isTTY' in stderr && stderr.isTTY === true,
    log: { debug() {}, info: logged, warn: logged, error: logged },
  };
}

/**
 * Returns the number in an option.
 * @throws UsageError with `message` if it is not a number from 1 to 999
 */
export function readCount(option: string, message: string): number {
  if (!/^[1-9]\d{0,2}$/.test(option)) throw new UsageError(message);
  return Number(option);
}

/** An error in the command line. The message is a sentence without a full stop, before a pointer to the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
