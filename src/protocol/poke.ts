import { MAX_ID_LENGTH, MAX_SCHEMA_VERSION_LENGTH, readID, readText } from './fields.js';

/** Who listens for pokes, as the query of the request says: the fields of a pull that its views may depend on, and its group. */
export interface PokeRequest {
  readonly clientGroupID: string;
  readonly profileID: string;
  readonly schemaVersion: string;
}

/**
 * Decodes the query of a poke request. Parameters that are not known are left out.
 * @throws Problem `malformed-request`, naming the parameter.
 */
export function decodePokeRequest(query: URLSearchParams): PokeRequest {
  return {
    clientGroupID: readID(query.get('clientGroupID'), 'clientGroupID'),
    profileID: readText(query.get('profileID'), 'profileID', MAX_ID_LENGTH),
    schemaVersion: readText(query.get('schemaVersion') ?? '', 'schemaVersion', MAX_SCHEMA_VERSION_LENGTH),
  };
}

/** The event that says that there is something to pull. It has no content. */
export const pokeEvent = 'data: poke\n\n';

/** A comment, to keep the connection from being taken for dead. */
export const heartbeat = ':\n\n';

/** Says after how many milliseconds a lost connection is to be made again. */
export function retryField(ms: number): string {
  return `retry: ${ms}\n\n`;
}
