import { Problem, SetupError } from '../errors.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/route.js';
import type { NotifierState } from '../pokes/poke-notifier.js';
import type { ConsistencyState } from '../pulls/consistency-checker.js';
import type { UpkeepState } from '../store/upkeep.js';

/** The options of `healthRoutes`. */
export interface HealthRoutesOptions {
  /** The prefix of `/healthz` and `/readyz`. */
  readonly basePath: string;
  /** Returns true if the server is about to stop. */
  readonly isStopping: () => boolean;
  /** Returns the details for the response of `/readyz`. Rejects with a Problem while the server cannot do its work. */
  readonly state: () => Promise<object>;
}

/** The inputs to one server's readiness. */
export interface ReadinessOptions {
  /** Rejects while the server cannot do its work. */
  readonly ready: () => Promise<void>;
  /** The state of the poke notifier. */
  readonly notifier: () => NotifierState;
  /** The results of the consistency checks. */
  readonly consistencyChecks: () => ConsistencyState;
  /** The state of the upkeep. */
  readonly upkeep: () => UpkeepState;
}

const maxPokeLagMs = 5_000;
const maxHeldSeconds = 60 * 60;

/** Creates the routes that report whether the server runs (`/healthz`) and can do its work (`/readyz`). */
export function healthRoutes({ basePath, isStopping, state }: HealthRoutesOptions): Route[] {
  const probe = { methods: ['GET', 'HEAD'], logLevel: 'debug' } as const;
  return [
    { ...probe, path: `${basePath}/healthz`, handle: async () => json({ status: 'ok' }) },
    {
      ...probe,
      path: `${basePath}/readyz`,
      handle: async () => {
        if (isStopping()) throw new Problem('unavailable', 'The server is stopping');
        return json({ status: 'ok', ...(await state()) });
      },
    },
  ];
}

/**
 * Returns the details of one server for the response of `/readyz`.
 * @throws Problem `unavailable` if the server is not ready
 */
export async function readiness(options: ReadinessOptions): Promise<object> {
  await options.ready().catch((cause: unknown) => refuseService(options, cause));
  return { degraded: degraded(options), pokes: options.notifier(), consistencyChecks: options.consistencyChecks() };
}

/** Returns codes for what does not work properly although the server answers requests. The codes are public. */
function degraded({ notifier, consistencyChecks, upkeep }: ReadinessOptions): string[] {
  const { isFailing, heldSeconds } = upkeep();
  const codes: [code: string, applies: boolean][] = [
    ['pokes-late', (notifier().lagMs ?? 0) > maxPokeLagMs],
    ['consistency-differences', consistencyChecks().differences > 0],
    ['upkeep-fails', isFailing],
    ['horizon-held', heldSeconds > maxHeldSeconds],
  ];
  return codes.filter(([, applies]) => applies).map(([code]) => code);
}

function refuseService(options: ReadinessOptions, cause: unknown): never {
  const { lagMs } = options.notifier();
  const lag = lagMs === null ? '' : `; the change log was last read ${lagMs} ms ago`;
  const codes = [cause instanceof SetupError ? 'setup' : 'database', ...degraded(options)];
  throw new Problem('unavailable', `The server is not ready${lag}`, { cause, extensions: { degraded: codes } });
}
