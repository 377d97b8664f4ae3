import type { UserContext } from '../context.js';
import { Problem, SetupError } from '../errors.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/route.js';
import type { ReplicaRouter } from '../replicas/replica-router.js';
import type { ClientViewInput } from '../schema/schema-cache.js';
import type { Upkeep } from '../store/upkeep.js';

/** The readiness of a server, or of a process with several. */
export interface Readiness {
  /** True if the server is about to stop. */
  readonly isStopping: boolean;
  /**
   * Returns the details for the response of `/readyz`.
   * @throws Problem `unavailable` if the server is not ready
   */
  check(): Promise<object>;
}

/** The dependencies of a `ServerReadiness`. */
export interface ServerReadinessParts<Context extends UserContext> {
  readonly replicaRouter: Pick<ReplicaRouter<Context>, 'ready' | 'notifierState' | 'consistencyState'>;
  readonly upkeep: Pick<Upkeep, 'state'>;
  /** The input for which the server must be able to answer pulls. */
  readonly sample: ClientViewInput<Context>;
}

const maxPokeLagMs = 5_000;
const maxHeldSeconds = 60 * 60;

/**
 * Creates the routes that report whether the server runs (`/healthz`) and can do its work (`/readyz`).
 * @param basePath the prefix of both
 */
export function healthRoutes(basePath: string, readiness: Readiness): Route[] {
  const probe = { methods: ['GET', 'HEAD'], logLevel: 'debug' } as const;
  return [
    { ...probe, path: `${basePath}/healthz`, handle: async () => json({ status: 'ok' }) },
    {
      ...probe,
      path: `${basePath}/readyz`,
      handle: async () => {
        if (readiness.isStopping) throw new Problem('unavailable', 'The server is stopping');
        return json({ status: 'ok', ...(await readiness.check()) });
      },
    },
  ];
}

/** The readiness of one server. */
export class ServerReadiness<Context extends UserContext> implements Readiness {
  readonly #parts: ServerReadinessParts<Context>;
  isStopping = false;

  constructor(parts: ServerReadinessParts<Context>) {
    this.#parts = parts;
  }

  async check(): Promise<object> {
    const { replicaRouter, sample } = this.#parts;
    await replicaRouter.ready(sample).catch((cause: unknown) => this.#refuse(cause));
    return {
      degraded: this.#degraded(),
      pokes: replicaRouter.notifierState(),
      consistencyChecks: replicaRouter.consistencyState(),
    };
  }

  /** Returns codes for what does not work properly although the server answers requests. The codes are public. */
  #degraded(): string[] {
    const { replicaRouter, upkeep } = this.#parts;
    const { isFailing, heldSeconds } = upkeep.state();
    const codes: [code: string, applies: boolean][] = [
      ['pokes-late', (replicaRouter.notifierState().lagMs ?? 0) > maxPokeLagMs],
      ['consistency-differences', replicaRouter.consistencyState().differences > 0],
      ['upkeep-fails', isFailing],
      ['horizon-held', heldSeconds > maxHeldSeconds],
    ];
    return codes.filter(([, applies]) => applies).map(([code]) => code);
  }

  #refuse(cause: unknown): never {
    const { lagMs } = this.#parts.replicaRouter.notifierState();
    const lag = lagMs === null ? '' : `; the change log was last read ${lagMs} ms ago`;
    const codes = [cause instanceof SetupError ? 'setup' : 'database', ...this.#degraded()];
    throw new Problem('unavailable', `The server is not ready${lag}`, { cause, extensions: { degraded: codes } });
  }
}
