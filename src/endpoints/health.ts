import { Problem, SetupError } from '../errors.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/route.js';
import type { TailState } from '../pokes/tail.js';
import type { AuditState } from '../pulls/auditor.js';
import type { UpkeepState } from '../store/upkeep.js';

/** The options of `healthRoutes`. */
export interface HealthRoutesOptions {
  /** The prefix of `/healthz` and `/readyz`. */
  readonly basePath: string;
  /** Whether the server is about to stop. */
  readonly isStopping: () => boolean;
  /** What `/readyz` says besides that all is well. Rejects with a Problem while the server cannot do its work. */
  readonly state: () => Promise<object>;
}

/** What the readiness of one server depends on. */
export interface ReadinessOptions {
  /** Rejects while the server cannot do its work. */
  readonly ready: () => Promise<void>;
  /** The state of the pokes. */
  readonly tail: () => TailState;
  /** What the audits have found. */
  readonly audits: () => AuditState;
  /** How the upkeep goes. */
  readonly upkeep: () => UpkeepState;
}

const lateMs = 5_000;
const longHeldSeconds = 60 * 60;

/** The routes that tell whether the server runs (`/healthz`) and whether it can do its work (`/readyz`). */
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
 * What `/readyz` says of one server that is ready.
 * @throws Problem `unavailable` if it is not
 */
export async function readiness(options: ReadinessOptions): Promise<object> {
  await options.ready().catch((cause: unknown) => refuseService(options, cause));
  return { degraded: degraded(options), pokes: options.tail(), audits: options.audits() };
}

/** What does not work as it should, although requests are answered. Anyone may see these codes. */
function degraded({ tail, audits, upkeep }: ReadinessOptions): string[] {
  const { isFailing, heldSeconds } = upkeep();
  const codes: [code: string, applies: boolean][] = [
    ['pokes-late', (tail().lagMs ?? 0) > lateMs],
    ['audit-differences', audits().differences > 0],
    ['upkeep-fails', isFailing],
    ['horizon-held', heldSeconds > longHeldSeconds],
  ];
  return codes.filter(([, applies]) => applies).map(([code]) => code);
}

function refuseService(options: ReadinessOptions, cause: unknown): never {
  const { lagMs } = options.tail();
  const lag = lagMs === null ? '' : `; the change log was last read ${lagMs} ms ago`;
  const codes = [cause instanceof SetupError ? 'setup' : 'database', ...degraded(options)];
  throw new Problem('unavailable', `The server is not ready${lag}`, { cause, extensions: { degraded: codes } });
}
