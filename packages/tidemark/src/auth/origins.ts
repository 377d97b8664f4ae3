import { SetupError } from '../errors.js';

/**
 * Returns the origins that an option names, as browsers send them.
 * @throws SetupError if one can never match
 */
export function originsOf(origins: readonly string[]): ReadonlySet<string> {
  for (const origin of origins) {
    if (!isOrigin(origin)) {
      throw new SetupError(
        `The origin ${JSON.stringify(origin)} can never match. Write a scheme and a host in lower case, a port unless it is the default, and nothing else, as in https://app.example.com.`,
      );
    }
  }
  return new Set(origins);
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  // Applications in a native shell have other schemes, such as `capacitor://localhost`.
  return host !== '' && text === `${protocol}//${host}`;
}
