/**
 * True if a key belongs to an input method that is composing text. Enter then ends the composition, not the input.
 * Safari ends the composition before it sends that key, so only the code 229 identifies it.
 */
export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
