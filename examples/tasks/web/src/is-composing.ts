/**
 * True if a key belongs to an input method that is composing text, so that Enter does not end the input. Safari ends the
 * composition before the key that ends it arrives: it is told by its code, 229.
 */
export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
