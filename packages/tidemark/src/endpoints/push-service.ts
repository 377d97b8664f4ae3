/** Answers the pushes of a server. */
import type { UserContext } from '../context.js';
import type { Caller } from '../http/identify.js';
import type { Semaphore } from '../limits/semaphore.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PushRequest } from '../protocol/push.js';
import type { ReplicaRouter } from '../replicas/replica-router.js';
import type { SeenGroups } from '../store/seen-groups.js';
import { createPush, type Push, type PushOptions } from '../writes/push.js';
import { type ForwardOptions, forwardPush, type RawPush } from './forward.js';

/** The options of a `PushService`. */
export interface PushServiceOptions<Context extends UserContext, Tx> extends PushOptions<Tx, Context> {
  /** The application's mutate endpoint, to which pushes are forwarded. Default: the server applies them itself. */
  readonly forward?: ForwardOptions | undefined;
  /** The permits for writes. */
  readonly writes: Semaphore;
  readonly seenGroups: SeenGroups;
  readonly replicaRouter: Pick<ReplicaRouter<Context>, 'wake'>;
}

/** Applies pushes here, or forwards them unchanged to the application's mutate endpoint. */
export class PushService<Context extends UserContext, Tx> {
  readonly #options: PushServiceOptions<Context, Tx>;
  readonly #apply: Push<Context>;

  constructor(options: PushServiceOptions<Context, Tx>) {
    this.#options = options;
    this.#apply = createPush(options);
  }

  /** @throws as `createPush` and `Semaphore.acquire`, or as `forwardPush` */
  async push(request: PushRequest, caller: Caller<Context>, rawPush: RawPush): Promise<ProtocolError | null> {
    const { forward, writes, seenGroups, replicaRouter } = this.#options;
    seenGroups.note(request.clientGroupID);
    try {
      if (forward) return await forwardPush(forward, rawPush, caller.log);
      return await writes.run(caller.context.userID, () => this.#apply(request, caller), caller.request);
    } finally {
      // Even if a push fails, some of its mutations may have committed.
      replicaRouter.wake();
    }
  }
}
