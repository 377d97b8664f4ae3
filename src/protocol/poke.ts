import { type Envelope, readEnvelope } from './fields.js';

/** Who listens for pokes, from the request's query string. */
export type PokeRequest = Envelope;

/**
 * Decodes the query string of a poke request. Ignores unknown parameters.
 * @throws Problem `malformed-request`, naming the parameter.
 */
export function decodePokeRequest(query: URLSearchParams): PokeRequest {
  return readEnvelope((name) => query.get(name) ?? (name === 'schemaVersion' ? '' : undefined));
}

/** The event of a poke. It says only that there is something to pull. */
export const pokeEvent = 'data: poke\n\n';

/** A comment that shows that the connection is alive. */
export const heartbeat = ':\n\n';

/** The field that tells the client after how many milliseconds to reconnect when it loses the connection. */
export function retryField(ms: number): string {
  return `retry: ${ms}\n\n`;
}
