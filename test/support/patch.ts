/** One edit of a source file, to check that tests detect it. */
export interface Patch {
  readonly file: string;
  /** Must occur exactly once. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Returns the text of a file with a patch applied.
 * @throws Error if the text to find does not occur exactly once
 */
export function patched(text: string, { file, find, replace }: Patch): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times, not once:\n${find}`);
  return pieces.join(replace);
}
