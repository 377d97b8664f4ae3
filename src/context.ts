/** What `authenticate` says about the caller. An application adds fields of its own. */
export interface UserContext {
  /** Owns the client groups that it pushes first. Not empty. */
  readonly userID: string;
  /** When the authorization ends, and with it the stream of pokes. Default: never. */
  readonly expiresAt?: Date | undefined;
}
