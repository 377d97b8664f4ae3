import { Budget, type BudgetOptions } from './budget.js';

/** How much requests may bring along, and how much of it a server keeps at once. */
export interface RequestLimits {
  /** The largest body of a pull, in bytes. Default 1 MiB. */
  readonly pull: number;
  /** The largest body of a push, in bytes. Default 4 MiB: one push carries every mutation that is still pending. */
  readonly push: number;
  /** The largest body of a REST call or a batch, in bytes. Default 1 MiB. */
  readonly call: number;
  /** The most mutations in a push. Default 10,000. */
  readonly mutations: number;
  /** The most bytes of bodies in memory at once. One user may have a quarter, or one body. Default 32 MiB. */
  readonly bodies: number;
  /** The most bytes in temporary files, for clients that read slowly. One user may have a quarter. Default 1 GiB. */
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
  const given = Object.entries(options).filter(([, limit]) => limit !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}

/** The part of a budget that one user may have. */
const share = 1 / 4;

type Within = BudgetOptions['within'];

/** For the bodies that are in memory. */
export function bodyBudget({ pull, push, call, bodies }: RequestLimits, within?: Within): Budget {
  const largest = Math.max(pull, push, call);
  const refusal = 'Too many large requests are being served; try again later';
  return new Budget({ total: Math.max(bodies, largest), each: Math.max(share * bodies, largest), refusal, within });
}

/** For the bytes in temporary files. Nobody is refused: a client whose answer finds no place keeps its connection. */
export function spoolBudget({ spool }: RequestLimits, within?: Within): Budget {
  return new Budget({ total: spool, each: share * spool, refusal: 'Too many clients read slowly', within });
}

/** For the streams of pokes. */
export function streamBudget(
  options: { readonly maxStreams?: number | undefined; readonly maxStreamsPerUser?: number | undefined },
  within?: Within,
): Budget {
  const { maxStreams: total = 10_000, maxStreamsPerUser: each = total / 10 } = options;
  return new Budget({ total, each, refusal: 'Too many streams of pokes are open; try again later', within });
}
