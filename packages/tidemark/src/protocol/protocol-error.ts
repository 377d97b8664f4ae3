/** The server has no record of this client, although it has applied mutations of the client. */
export interface ClientStateNotFound {
  readonly error: 'ClientStateNotFound';
}

/** The server cannot handle the request's `pullVersion`, `pushVersion` or `schemaVersion`. */
export interface VersionNotSupported {
  readonly error: 'VersionNotSupported';
  readonly versionType?: 'pull' | 'push' | 'schema' | undefined;
}

/**
 * The two protocol errors that the sync client understands. They are values, not exceptions, because the client reads
 * them only from a response with status 200.
 */
export type ProtocolError = ClientStateNotFound | VersionNotSupported;
