import { MAX_ID_LENGTH, readID, readText } from './fields.js';

/** What every request of a sync client says: which client group sent it, and the inputs of the views. */
export interface Envelope {
  readonly clientGroupID: string;
  /** The ID of the browser profile. */
  readonly profileID: string;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
}

/** The longest `schemaVersion` accepted, in UTF-16 units. */
const MAX_SCHEMA_VERSION_LENGTH = 1024;

/**
 * Reads and checks the envelope of a request.
 * @param get returns the value of a field of the request
 * @throws Problem `malformed-request`, naming the field.
 */
export function readEnvelope(get: (name: keyof Envelope) => unknown): Envelope {
  return {
    clientGroupID: readID(get('clientGroupID'), 'clientGroupID'),
    profileID: readText(get('profileID'), 'profileID', MAX_ID_LENGTH),
    schemaVersion: readText(get('schemaVersion'), 'schemaVersion', MAX_SCHEMA_VERSION_LENGTH),
  };
}
