/** The accounts of the demo. Any other name works too, and starts with nothing. */
export const accounts: readonly string[] = ['ann', 'ben', 'cam'];
