import { Problem } from '../errors.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/route.js';
import type { TailState } from '../pokes/tail.js';
import type { AuditState } from '../pulls/auditor.js';

/** The options of `healthRoutes`. */
export interface HealthRoutesOptions {
  /** The prefix of `/healthz` and `/readyz`. */
  readonly basePath: string;
  /** Rejects while the server cannot do its work. */
  readonly ready: () => Promise<void>;
  /** The state of the pokes. */
  readonly tail: () => TailState;
  /** What the audits have found. */
  readonly audits: () => AuditState;
}

/** The routes that tell whether the server runs (`/healthz`) and whether it can do its work (`/readyz`). */
export function healthRoutes({ basePath, ready, tail, audits }: HealthRoutesOptions): Route[] {
  const methods = ['GET', 'HEAD'];
  return [
    { methods, path: `${basePath}/healthz`, handle: async () => json({ status: 'ok' }) },
    {
      methods,
      path: `${basePath}/readyz`,
      handle: async () => {
        await ready().catch((cause: unknown) => refuseService(tail(), cause));
        return json({ status: 'ok', pokes: tail(), audits: audits() });
      },
    },
  ];
}

function refuseService({ lagMs }: TailState, cause: unknown): never {
  const lag = lagMs === null ? '' : `; the change log was last read ${lagMs} ms ago`;
  throw new Problem('unavailable', `The server is not ready${lag}`, { cause });
}
