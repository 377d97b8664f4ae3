import type { Logger } from '../log.js';
import type { UserContext } from '../registry/mutators.js';

/** Who makes a request, and how to speak of it in the log. */
export interface Caller<Context extends UserContext = UserContext> {
  /** What `authenticate` answered. */
  readonly context: Context;
  readonly requestID: string;
  /** Adds the request ID to every line. */
  readonly log: Logger;
}
