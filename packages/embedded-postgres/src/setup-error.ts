/** An error in the setup. The message says what is wrong and what to do. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
