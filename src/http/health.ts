import { Problem } from '../errors.js';
import type { TailState } from '../sync/tail.js';
import type { Route } from './route.js';

export interface HealthRoutesOptions {
  /** Rejects while the server cannot do its work. */
  readonly ready: () => Promise<void>;
  /** How the pokes stand. */
  readonly tail: () => TailState;
}

export function healthRoutes({ ready, tail }: HealthRoutesOptions): Route[] {
  const methods = ['GET', 'HEAD'];
  return [
    { methods, path: '/healthz', handle: async () => '{"status":"ok"}' },
    {
      methods,
      path: '/readyz',
      handle: async () => {
        await ready().catch((cause: unknown) => refuseService(tail(), cause));
        return JSON.stringify({ status: 'ok', pokes: tail() });
      },
    },
  ];
}

function refuseService({ lagMs }: TailState, cause: unknown): never {
  const lag = lagMs === null ? '' : `; the change log was last read ${lagMs} ms ago`;
  throw new Problem('unavailable', `The server is not ready${lag}`, { cause });
}
