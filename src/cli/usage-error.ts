/** The command line is wrong. The message is a sentence without its full stop; a pointer to the help follows it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
