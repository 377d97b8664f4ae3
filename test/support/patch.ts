/** One edit of a source file, to see whether tests notice. */
export interface Patch {
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/**
 * The text of a file with a patch applied.
 * @throws Error when what it is to find is not there exactly once.
 */
export function patched(text: string, { file, find, replace }: Patch): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times, not once:\n${find}`);
  return pieces.join(replace);
}
