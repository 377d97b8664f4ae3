import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { describeError, type Logger } from '../log.js';
import { type Call, encodeAnswer, fingerprintOf } from '../protocol/calls.js';
import type { Mutators, UserContext } from '../registry/mutators.js';
import { type Prepared, prepare } from '../registry/prepare.js';
import { encodeResult } from '../registry/result.js';
import { type KeyRef, keepAnswer, lockKey, pruneAnswers, type Query, readAnswer } from '../store/idempotency-keys.js';
import { toCallProblem } from './call-failures.js';
import type { Caller } from './caller.js';
import { mutate, type Transact } from './mutate.js';

/** A transaction as calls need it. */
export interface CallTransaction<Tx> {
  /** What mutators get. */
  readonly tx: Tx;
  /** Runs Tidemark's own statements in it. Without it, no call can have an idempotency key. */
  readonly query?: Query;
}

export interface CallsOptions<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly transact: Transact<CallTransaction<Tx>>;
  /** How long the answer to a call with an idempotency key is kept. */
  readonly keyRetentionSeconds: number;
}

export interface CallSettings {
  readonly idempotencyKey?: string;
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

/** Ends a transaction of which nothing is to be kept. */
class RollbackSignal extends Error {
  override readonly name = 'RollbackSignal';
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

  /** @throws Problem, and every transient failure. */
  async run(
    asked: Call | readonly Call[],
    { context, log }: Caller<Context>,
    { idempotencyKey, rollback }: CallSettings,
  ): Promise<CallsAnswer> {
    const isBatch = Array.isArray(asked);
    const calls = isBatch ? (asked as readonly Call[]) : [asked as Call];
    const place: Place = { index: undefined };
    try {
      const prepared = await this.#prepare(calls, place);
      const run = async (tx: Tx) => {
        const answers = await answerEach(
          prepared,
          place,
          ({ mutator, args }) => mutator.run({ tx, args, ctx: context }),
          rollback,
        );
        return isBatch ? `[${answers.join()}]` : answers[0]!;
      };
      if (rollback) return { text: await this.#rehearse(run), replayed: false };
      if (idempotencyKey === undefined) return { text: await this.#perform(({ tx }) => run(tx)), replayed: false };
      this.#pruneNowAndThen(log);
      return await this.#performOnce(run, { userID: context.userID, key: idempotencyKey }, fingerprintOf(asked));
    } catch (error) {
      if (isTransient(error)) throw error;
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

  async #perform<Result>(run: (transaction: CallTransaction<Tx>) => Promise<Result>): Promise<Result> {
    const outcome = await mutate(this.#options.transact, run);
    if (outcome.status !== 'applied') throw outcome.status === 'failed' ? outcome.error : new Error('was not run');
    return outcome.result;
  }

  /** Runs, and takes everything back. */
  async #rehearse(run: (tx: Tx) => Promise<string>): Promise<string> {
    let text = '';
    const signal = new RollbackSignal();
    const attempt = this.#perform(async ({ tx, query }) => {
      text = await run(tx);
      // What a commit would check.
      await query?.('set constraints all immediate', []);
      throw signal;
    });
    return attempt.catch((error: unknown) => {
      if (error !== signal) throw error;
      return text;
    });
  }

  /** Runs, and keeps the answer under the key in the same transaction, unless there is one already. */
  #performOnce(run: (tx: Tx) => Promise<string>, ref: KeyRef, fingerprint: string): Promise<CallsAnswer> {
    return this.#perform(async ({ tx, query }) => {
      if (query === undefined) throw new Problem('malformed-request', 'Idempotency-Key is not supported here');
      if (!(await lockKey(query, ref))) {
        throw new Problem('idempotency-key-in-flight', 'A call with this Idempotency-Key is still running');
      }
      const kept = await readAnswer(query, ref, this.#options.keyRetentionSeconds);
      if (kept !== undefined && kept.fingerprint !== fingerprint) {
        throw new Problem(
          'idempotency-key-reused',
          'This Idempotency-Key was used for a call of another mutator, or with other args',
        );
      }
      if (kept !== undefined) return { text: kept.answer, replayed: true };
      const text = await run(tx);
      await keepAnswer(query, ref, { fingerprint, answer: text });
      return { text, replayed: false };
    });
  }

  #pruneNowAndThen(log: Logger): void {
    if (performance.now() - this.#prunedAt < pruneEveryMs) return;
    this.#prunedAt = performance.now();
    const { transact, keyRetentionSeconds } = this.#options;
    transact(async ({ query }) => query && pruneAnswers(query, keyRetentionSeconds)).catch((error: unknown) => {
      log.warn(
        { error: describeError(error) },
        'Old idempotency keys could not be pruned; the next try is in a minute',
      );
    });
  }
}

async function answerEach<Tx, Context>(
  prepared: readonly Prepared<Tx, Context>[],
  place: Place,
  run: (call: Prepared<Tx, Context>) => unknown,
  rollback: boolean,
): Promise<string[]> {
  const answers: string[] = [];
  for (const [index, call] of prepared.entries()) {
    place.index = index;
    answers.push(encodeAnswer(await encodeResult(call.mutator, await run(call)), rollback));
  }
  place.index = undefined;
  return answers;
}
