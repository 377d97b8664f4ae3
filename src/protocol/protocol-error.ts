/** The server has no record of this client, though the client has applied mutations. */
export interface ClientStateNotFound {
  readonly error: 'ClientStateNotFound';
}

/** The server cannot handle the request's `pullVersion`, `pushVersion` or `schemaVersion`. */
export interface VersionNotSupported {
  readonly error: 'VersionNotSupported';
  readonly versionType?: 'pull' | 'push' | 'schema' | undefined;
}

/**
 * The two refusals that the sync client reads. They are values, not exceptions: they count only in a body with status
 * 200.
 */
export type ProtocolError = ClientStateNotFound | VersionNotSupported;
