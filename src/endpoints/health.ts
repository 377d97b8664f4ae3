import { Problem } from '../errors.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/route.js';
import type { TailState } from '../pokes/tail.js';
import type { AuditState } from '../pulls/auditor.js';

export interface HealthRoutesOptions {
  /** What stands before `/healthz` and `/readyz`. */
  readonly basePath: string;
  /** Rejects while the server cannot do its work. */
  readonly ready: () => Promise<void>;
  /** How the pokes stand. */
  readonly tail: () => TailState;
  readonly audits: () => AuditState;
}

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
