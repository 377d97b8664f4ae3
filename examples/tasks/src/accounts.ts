/** The demo's accounts. Any other name works too, and starts without data. */
export const accounts: readonly string[] = ['ann', 'ben', 'cam'];
