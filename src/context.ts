/** What `authenticate` returns about the caller. An application adds its own fields. */
export interface UserContext {
  /** The user's ID. A client group belongs to the user who first pushes to it. Not empty. */
  readonly userID: string;
  /** When the authorization expires. The stream of pokes ends then. Default: never. */
  readonly expiresAt?: Date | undefined;
}
