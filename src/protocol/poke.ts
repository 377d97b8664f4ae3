import { type Envelope, readEnvelope } from './envelope.js';

/** Who listens for pokes, as the query of the request says. */
export type PokeRequest = Envelope;

/**
 * Decodes the query of a poke request. Parameters that are not known are left out.
 * @throws Problem `malformed-request`, naming the parameter.
 */
export function decodePokeRequest(query: URLSearchParams): PokeRequest {
  return readEnvelope((name) => query.get(name) ?? (name === 'schemaVersion' ? '' : undefined));
}

/** The event that says that there is something to pull. It has no content. */
export const pokeEvent = 'data: poke\n\n';

/** A comment, to keep the connection from being taken for dead. */
export const heartbeat = ':\n\n';

/** Says after how many milliseconds a lost connection is to be made again. */
export function retryField(ms: number): string {
  return `retry: ${ms}\n\n`;
}
