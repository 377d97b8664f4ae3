import type { Logger } from '../log.js';

/** What `authenticate` says of a user; applications add to it what their views and mutators need. */
export interface UserContext {
  readonly userID: string;
}

/** Who makes a request. */
export interface Caller<Context extends UserContext> {
  readonly context: Context;
  readonly requestID: string;
  /** Adds the request ID to every line. */
  readonly log: Logger;
}
