import { type Envelope, readEnvelope, readOptionalFlag } from './fields.js';

/** Who listens for pokes, from the request's query string. */
export interface PokeRequest extends Envelope {
  /** As in pulls: the client is also poked about refused mutations that are not of its own group. Default false. */
  readonly refused?: boolean | undefined;
}

/** What stands for a flag in a query string. */
const flags: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/**
 * Decodes the query string of a poke request. Ignores unknown parameters.
 * @throws Problem `malformed-request`, naming the parameter.
 */
export function decodePokeRequest(query: URLSearchParams): PokeRequest {
  const refused = query.get('refused') ?? undefined;
  return {
    ...readEnvelope((name) => query.get(name) ?? (name === 'schemaVersion' ? '' : undefined)),
    refused: readOptionalFlag(flags.get(refused) ?? refused, 'refused'),
  };
}

/** The event of a poke. It says only that there is something to pull. */
export const pokeEvent = 'data: poke\n\n';

/** A comment that shows that the connection is alive. */
export const heartbeat = ':\n\n';

/** The field that tells the client after how many milliseconds to reconnect when it loses the connection. */
export function retryField(ms: number): string {
  return `retry: ${ms}\n\n`;
}
