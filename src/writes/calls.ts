import type { UserContext } from '../context.js';
import { isTransient } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError, type Logger } from '../log.js';
import { type Call, encodeAnswer, fingerprintOf } from '../protocol/calls.js';
import type { Mutators } from '../registry/mutators.js';
import { type Prepared, prepare } from '../registry/prepare.js';
import { encodeResult } from '../registry/result.js';
import { pruneAnswers, type Query } from '../store/idempotency-keys.js';
import { toCallProblem } from './call-failures.js';
import { IdempotencyKey } from './idempotency-key.js';
import { mutate, type Transact } from './mutate.js';

/** A transaction as calls need it. */
export interface CallTransaction<Tx> {
  /** What mutators get. */
  readonly tx: Tx;
  /** Runs Tidemark's own statements in it. Without it, no call can have an idempotency key. */
  readonly query?: Query | undefined;
}

export interface CallsOptions<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly transact: Transact<CallTransaction<Tx>>;
  /** How long the answer to a call with an idempotency key is kept. */
  readonly keyRetentionSeconds: number;
}

export interface CallSettings {
  readonly idempotencyKey?: string | undefined;
  /** Run, answer, and keep nothing. */
  readonly rollback: boolean;
}

export interface CallsAnswer {
  /** JSON text: an object for a call, an array for a batch. */
  readonly text: string;
  /** It is the answer that the first call with the same idempotency key was given. */
  readonly replayed: boolean;
}

const pruneEveryMs = 60_000;

/** Ends a transaction of which nothing is to be kept but the answer. */
class RollbackSignal extends Error {
  override readonly name = 'RollbackSignal';
  readonly answer: string;

  constructor(answer: string) {
    super();
    this.answer = answer;
  }
}

/** The call of a batch that is at work; undefined while none is. */
interface Place {
  index: number | undefined;
}

/** Runs mutators for REST callers: one, or several in one transaction, all or none. */
export class Calls<Tx, Context extends UserContext> {
  readonly #options: CallsOptions<Tx, Context>;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CallsOptions<Tx, Context>) {
    this.#options = options;
  }

  /** @throws Problem, SetupError, and every transient failure. */
  async run(
    asked: Call | readonly Call[],
    { context, log }: Caller<Context>,
    { idempotencyKey, rollback }: CallSettings,
  ): Promise<CallsAnswer> {
    const { transact, keyRetentionSeconds } = this.#options;
    const isBatch = Array.isArray(asked);
    const calls = isBatch ? (asked as readonly Call[]) : [asked as Call];
    const place: Place = { index: undefined };
    try {
      const prepared = await this.#prepare(calls, place);
      let key: IdempotencyKey | undefined;
      if (idempotencyKey !== undefined && !rollback) {
        key = new IdempotencyKey(
          { userID: context.userID, key: idempotencyKey },
          fingerprintOf(asked),
          keyRetentionSeconds,
        );
        this.#pruneNowAndThen(log);
      }
      const run = async (transaction: CallTransaction<Tx>) => {
        const { tx } = transaction;
        const runOne = ({ mutator, args }: Prepared<Tx, Context>) => mutator.run({ tx, args, ctx: context });
        const answers = await answerEach(prepared, place, runOne, rollback);
        const answer = isBatch ? `[${answers.join()}]` : answers[0]!;
        if (rollback) await takeBack(transaction, answer);
        await key?.keep(transaction, answer);
        return answer;
      };
      const outcome = await mutate(transact, run, key && ((transaction) => key.claim(transaction)));
      if (outcome.status === 'failed') throw outcome.error;
      return outcome.status === 'applied'
        ? { text: outcome.result, replayed: false }
        : { text: key!.kept!, replayed: true };
    } catch (error) {
      if (error instanceof RollbackSignal) return { text: error.answer, replayed: false };
      if (isTransient(error) || error instanceof SetupError) throw error;
      const { index } = place;
      throw toCallProblem(error, calls[index ?? 0]?.args, isBatch ? index : undefined);
    }
  }

  async #prepare(calls: readonly Call[], place: Place): Promise<Prepared<Tx, Context>[]> {
    const prepared: Prepared<Tx, Context>[] = [];
    for (const [index, { name, args }] of calls.entries()) {
      place.index = index;
      prepared.push(await prepare(this.#options.mutators, name, args));
    }
    place.index = undefined;
    return prepared;
  }

  #pruneNowAndThen(log: Logger): void {
    if (performance.now() - this.#prunedAt < pruneEveryMs) return;
    this.#prunedAt = performance.now();
    const { transact, keyRetentionSeconds } = this.#options;
    transact(async ({ query }) => query && pruneAnswers(query, keyRetentionSeconds)).catch((error: unknown) => {
      const message = 'Old idempotency keys could not be pruned; the next try is in a minute';
      log.warn({ error: describeError(error) }, message);
    });
  }
}

/** @throws what a commit would, or the signal that there is nothing against one */
async function takeBack<Tx>({ query }: CallTransaction<Tx>, answer: string): Promise<never> {
  await query?.('set constraints all immediate', []);
  throw new RollbackSignal(answer);
}

async function answerEach<Tx, Context>(
  prepared: readonly Prepared<Tx, Context>[],
  place: Place,
  run: (call: Prepared<Tx, Context>) => unknown,
  rolledBack: boolean,
): Promise<string[]> {
  const answers: string[] = [];
  for (const [index, call] of prepared.entries()) {
    place.index = index;
    answers.push(encodeAnswer(await encodeResult(call.mutator, await run(call)), rolledBack));
  }
  place.index = undefined;
  return answers;
}
