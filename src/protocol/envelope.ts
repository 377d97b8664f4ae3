import { MAX_ID_LENGTH, readID, readText } from './fields.js';

/** What every request of a sync client says: whose data it is about, and what the views may depend on besides. */
export interface Envelope {
  readonly clientGroupID: string;
  /** The browser profile. */
  readonly profileID: string;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
}

/** The longest `schemaVersion` accepted, in UTF-16 units. */
const MAX_SCHEMA_VERSION_LENGTH = 1024;

/**
 * @param get gives the request's value of a field
 * @throws Problem `malformed-request`, naming the field.
 */
export function readEnvelope(get: (name: keyof Envelope) => unknown): Envelope {
  return {
    clientGroupID: readID(get('clientGroupID'), 'clientGroupID'),
    profileID: readText(get('profileID'), 'profileID', MAX_ID_LENGTH),
    schemaVersion: readText(get('schemaVersion'), 'schemaVersion', MAX_SCHEMA_VERSION_LENGTH),
  };
}
