import { Budget, type BudgetOptions } from './budget.js';

/** Limits on the size of requests, and on the bytes that a server holds for them. */
export interface RequestLimits {
  /** The largest body of a pull, in bytes. Default 1 MiB. */
  readonly pull: number;
  /** The largest body of a push, in bytes. Default 4 MiB: one push carries every mutation that is still pending. */
  readonly push: number;
  /** The largest body of a REST call or a batch, in bytes. Default 1 MiB. */
  readonly call: number;
  /** The maximum number of mutations in a push. Default 10,000. */
  readonly mutations: number;
  /** The maximum number of bytes of bodies in memory. One user can have a quarter, or one body. Default 32 MiB. */
  readonly bodies: number;
  /** The maximum number of bytes in temporary files for slow clients. One user can have a quarter. Default 1 GiB. */
  readonly spool: number;
}

/** The limits that differ from the defaults. */
export type RequestLimitOptions = { readonly [Name in keyof RequestLimits]?: RequestLimits[Name] | undefined };

const MiB = 1024 * 1024;

const defaults: RequestLimits = {
  pull: MiB,
  push: 4 * MiB,
  call: MiB,
  mutations: 10_000,
  bodies: 32 * MiB,
  spool: 1024 * MiB,
};

/** Completes the limits with the defaults. */
export function requestLimits(options: RequestLimitOptions = {}): RequestLimits {
  const overrides = Object.entries(options).filter(([, limit]) => limit !== undefined);
  return { ...defaults, ...Object.fromEntries(overrides) };
}

/** The fraction of a budget that one user can have. */
const share = 1 / 4;

type Parent = BudgetOptions['parent'];

/** Creates the budget for request bodies in memory. */
export function bodyBudget({ pull, push, call, bodies }: RequestLimits, parent?: Parent): Budget {
  const maxBody = Math.max(pull, push, call);
  const refusal = 'Too many large requests are being served; try again later';
  return new Budget({ total: Math.max(bodies, maxBody), perUser: Math.max(share * bodies, maxBody), refusal, parent });
}

/** Creates the budget for temporary files. Never refuses: without space, a response keeps its database connection. */
export function spoolBudget({ spool }: RequestLimits, parent?: Parent): Budget {
  return new Budget({ total: spool, perUser: share * spool, refusal: 'Too many clients read slowly', parent });
}

/** Creates the budget for streams of pokes. */
export function streamBudget(
  options: { readonly maxStreams?: number | undefined; readonly maxStreamsPerUser?: number | undefined },
  parent?: Parent,
): Budget {
  const { maxStreams: total = 10_000, maxStreamsPerUser: perUser = total / 10 } = options;
  return new Budget({ total, perUser, refusal: 'Too many streams of pokes are open; try again later', parent });
}
