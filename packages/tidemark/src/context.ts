/** The caller, as `authenticate` returns it. An application adds its own fields. */
export interface UserContext {
  /** The user's ID, not empty. A client group belongs to the user who first pushes to it. */
  readonly userID: string;
  /** The time at which the authorization expires, and the stream of pokes ends. Default: never. */
  readonly expiresAt?: Date | undefined;
}
