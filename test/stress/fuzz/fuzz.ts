/** Runs cases, each from its own seed, and shrinks those that show a difference. */
import fc from 'fast-check';
import { isTransient } from '../../../packages/tidemark/src/db/sqlstate.js';
import type { Replication } from '../../support/replication.js';
import { type Code, loadCode } from '../oracle/code.js';
import { type Case, type CaseOptions, cases } from './case.js';
import { Databases } from './database.js';
import { Difference, type DifferenceKind, InvalidCase } from './difference.js';
import { withoutNames } from './refusals.js';
import { describeDifference } from './report.js';
import { runCase } from './run-case.js';
import { count, Tally } from './tally.js';

export interface FuzzOptions {
  /** A connection string for a cluster in which databases can be created. */
  readonly cluster: string;
  /** The major version of Postgres. */
  readonly version: number;
  readonly seed: number;
  readonly code?: Code;
  /** The cluster's standby. One of each case's two servers then reads from it, and there is only one worker. */
  readonly replication?: Replication;
  /** The maximum number of a case's views that are served. Default 10. */
  readonly views?: number;
  /** True if clients want instances in every case. Default: in some. */
  readonly instances?: boolean | undefined;
  /** The number of concurrent cases: the database works while this process does. Default 1. */
  readonly workers?: number;
  /** The time limit for shrinking a case, in milliseconds. Default: five minutes. */
  readonly shrinkMs?: number;
  /** The only kind to look for. A case may then end sooner. */
  readonly kind?: DifferenceKind;
  /** True to report needless refusals as differences, each reason once. */
  readonly showsNeedless?: boolean;
  /** True to continue. Called before each case. */
  readonly goesOn: (progress: Progress) => boolean;
  readonly onFound?: (found: Found) => void;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Found {
  readonly seed: number;
  readonly difference: Difference;
  /** Everything needed to reproduce it. */
  readonly text: string;
}

export interface Progress {
  readonly tally: Tally;
  readonly found: readonly Found[];
}

/** @throws Error with the seed, if anything other than the code under test fails */
export async function fuzz(options: FuzzOptions): Promise<Progress> {
  const { version, seed, views = 10, replication, onFound = () => {}, onProgress = () => {} } = options;
  const workers = replication ? 1 : (options.workers ?? 1);
  const code = options.code ?? (await loadCode());
  const tally = new Tally();
  const found: Found[] = [];
  const reported = new Set<string>();
  // Wrong rows in two cases can have different reasons, so only differences with telling messages are known.
  const isKnown = (difference: Difference) => ofMessages.has(difference.kind) && reported.has(idOf(difference));
  const passes = (difference: Difference) =>
    (difference.kind === 'refused' && !options.showsNeedless) || isKnown(difference);
  const databases = new Databases(options.cluster);
  const common = { databases, code, views, passes, ...(replication && { replication }) };
  let next = seed;
  const work = async () => {
    while (options.goesOn({ tally, found })) {
      const one = await firstDifference(
        { version, views: 2 * views, instances: options.instances },
        next++,
        (value, found) => {
          const kind = found ?? options.kind;
          return runCase(value, { ...common, tally: found ? new Tally() : tally, ...(kind && { kind }) });
        },
        options.shrinkMs ?? 300_000,
        tally,
      );
      onProgress({ tally, found });
      if (!one || isKnown(one.difference)) continue;
      found.push(one);
      reported.add(idOf(one.difference));
      onFound(one);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  await databases.close();
  return { tally, found };
}

type Run = (value: Case, kind: DifferenceKind | undefined) => Promise<void>;

async function firstDifference(
  of: CaseOptions,
  seed: number,
  run: Run,
  shrinkMs: number,
  tally: Tally,
): Promise<Found | undefined> {
  let last: { value: Case; difference: Difference } | undefined;
  let failure: unknown;
  let underway: Promise<void> | undefined;
  // On a busy machine, a statement can time out by chance. Retries once.
  const runPatiently: Run = (value, kind) =>
    run(value, kind).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      count(tally.unusable, `the whole case, which is run again: ${(error as Error).message}`);
      return run(value, kind);
    });
  const property = fc.asyncProperty(cases(of), async (value) => {
    try {
      underway = runPatiently(value, last?.difference.kind);
      await underway;
    } catch (error) {
      if (error instanceof InvalidCase) return void (last ?? count(tally.unusable, `the whole case: ${error.message}`));
      // The code under test is not the reason, so there is nothing to shrink.
      if (!(error instanceof Difference)) {
        if (!last) failure = error;
        return;
      }
      // Another difference in a smaller case would hide the one that is being shrunk.
      if (last && idOf(last.difference) !== idOf(error)) return;
      last = { value, difference: error };
      throw error;
    }
  });
  await fc.check(property, {
    seed,
    numRuns: 1,
    ...(shrinkMs > 0 ? { interruptAfterTimeLimit: shrinkMs } : { endOnFailure: true }),
  });
  // The time limit does not wait for the current case.
  await underway?.catch(() => {});
  if (failure !== undefined) throw new Error(`the case of seed ${seed} cannot be run`, { cause: failure });
  if (!last) return undefined;
  return { seed, difference: last.difference, text: describeDifference(last.value, last.difference) };
}

/** Kinds whose messages state the reason. */
const ofMessages: ReadonlySet<DifferenceKind> = new Set(['accepted', 'refused', 'setup']);

function idOf({ kind, message }: Difference): string {
  if (!ofMessages.has(kind)) return kind;
  return `${kind} ${kind === 'setup' ? withoutNames(message) : message}`;
}
