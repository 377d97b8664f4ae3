/** Runs cases, each from its own seed, and makes those smaller in which it finds a difference. */
import fc from 'fast-check';
import { isTransient } from '../../../src/db/sqlstate.js';
import type { Replication } from '../../support/replication.js';
import { type Code, loadCode } from '../oracle/code.js';
import { type Case, cases } from './case.js';
import { Databases } from './database.js';
import { Difference, type DifferenceKind, InvalidCase } from './difference.js';
import { withoutNames } from './refusals.js';
import { describeDifference } from './report.js';
import { runCase } from './run-case.js';
import { count, Tally } from './tally.js';

export interface FuzzOptions {
  /** A connection string for a cluster in which databases can be created. */
  readonly cluster: string;
  /** Of Postgres. */
  readonly version: number;
  readonly seed: number;
  readonly code?: Code;
  /** Of the cluster. With it, one of each case's two servers asks a standby, and there is one worker only. */
  readonly replication?: Replication;
  /** At most so many of a case's views are served. Default 10. */
  readonly views?: number;
  /** How many cases are under way at a time: the database works while this process does. Default 1. */
  readonly workers?: number;
  /** How long a case is made smaller, in milliseconds. Default: five minutes. */
  readonly shrinkMs?: number;
  /** The kind that is sought, where no other is: a case may then be over sooner. */
  readonly kind?: DifferenceKind;
  /** Takes a needless refusal for a difference, each reason once. */
  readonly showsNeedless?: boolean;
  /** Whether to go on. Asked before each case. */
  readonly goesOn: (progress: Progress) => boolean;
  readonly onFound?: (found: Found) => void;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Found {
  readonly seed: number;
  readonly difference: Difference;
  /** What it takes to see it again. */
  readonly text: string;
}

export interface Progress {
  readonly tally: Tally;
  readonly found: readonly Found[];
}

/** @throws Error with the seed, when something else than the code under test fails */
export async function fuzz(options: FuzzOptions): Promise<Progress> {
  const { version, seed, views = 10, replication, onFound = () => {}, onProgress = () => {} } = options;
  const workers = replication ? 1 : (options.workers ?? 1);
  const code = options.code ?? (await loadCode());
  const tally = new Tally();
  const found: Found[] = [];
  const told = new Set<string>();
  // Of two clients that hold wrong rows, nobody knows whether that is for one reason.
  const isKnown = (difference: Difference) => ofMessages.has(difference.kind) && told.has(idOf(difference));
  const passes = (difference: Difference) =>
    (difference.kind === 'refused' && !options.showsNeedless) || isKnown(difference);
  const databases = new Databases(options.cluster);
  const common = { databases, code, views, passes, ...(replication && { replication }) };
  let next = seed;
  const work = async () => {
    while (options.goesOn({ tally, found })) {
      const one = await firstDifference(
        { version, views: 2 * views },
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
      told.add(idOf(one.difference));
      onFound(one);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  await databases.close();
  return { tally, found };
}

type Run = (value: Case, kind: DifferenceKind | undefined) => Promise<void>;

async function firstDifference(
  of: { version: number; views: number },
  seed: number,
  run: Run,
  shrinkMs: number,
  tally: Tally,
): Promise<Found | undefined> {
  let last: { value: Case; difference: Difference } | undefined;
  let failure: unknown;
  let underway: Promise<void> | undefined;
  // A machine that is busy with other work too lets a statement run into its timeout. Once is chance.
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
      // It says nothing about the code under test, so there is nothing to make smaller.
      if (!(error instanceof Difference)) {
        if (!last) failure = error;
        return;
      }
      // Another difference on the way to a smaller case would hide the one that is sought.
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
  // The time limit does not wait for a case that is under way.
  await underway?.catch(() => {});
  if (failure !== undefined) throw new Error(`the case of seed ${seed} cannot be run`, { cause: failure });
  if (!last) return undefined;
  return { seed, difference: last.difference, text: describeDifference(last.value, last.difference) };
}

/** Their messages tell why. */
const ofMessages: ReadonlySet<DifferenceKind> = new Set(['accepted', 'refused', 'setup']);

function idOf({ kind, message }: Difference): string {
  if (!ofMessages.has(kind)) return kind;
  return `${kind} ${kind === 'setup' ? withoutNames(message) : message}`;
}
