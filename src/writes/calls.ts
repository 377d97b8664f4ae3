import type { UserContext } from '../context.js';
import { isTransient } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError, type Logger } from '../log.js';
import { type Asked, encodeAnswer, fingerprintOf } from '../protocol/calls.js';
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

/** Runs mutators for REST callers: one, or several in one transaction, all or none. */
export class Calls<Tx, Context extends UserContext> {
  readonly #options: CallsOptions<Tx, Context>;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CallsOptions<Tx, Context>) {
    this.#options = options;
  }

  /** @throws Problem, SetupError, and every transient failure. */
  async run(
    asked: Asked,
    { context, log }: Caller<Context>,
    { idempotencyKey, rollback }: CallSettings,
  ): Promise<CallsAnswer> {
    const { mutators, transact, keyRetentionSeconds } = this.#options;
    const calls = asked.kind === 'call' ? [asked.call] : asked.calls;
    const runnable: Prepared<Tx, Context>[] = [];
    for (const [index, { name, args }] of calls.entries()) {
      runnable.push(await explained(prepare(mutators, name, args), asked, index));
    }
    let key: IdempotencyKey | undefined;
    if (idempotencyKey !== undefined && !rollback) {
      const ref = { userID: context.userID, key: idempotencyKey };
      key = new IdempotencyKey(ref, fingerprintOf(asked), keyRetentionSeconds);
      this.#pruneNowAndThen(log);
    }
    const run = async (transaction: CallTransaction<Tx>) => {
      const { tx } = transaction;
      const answers: string[] = [];
      for (const [index, { mutator, args }] of runnable.entries()) {
        const work = async () => encodeResult(mutator, await mutator.run({ tx, args, ctx: context }));
        answers.push(encodeAnswer(await explained(work(), asked, index), rollback));
      }
      const answer = asked.kind === 'call' ? answers[0]! : `[${answers.join()}]`;
      if (rollback) await takeBack(transaction, answer);
      await key?.keep(transaction, answer);
      return answer;
    };
    try {
      const outcome = await mutate(transact, run, key && ((transaction) => key.claim(transaction)));
      if (outcome.status === 'failed') throw outcome.error;
      return outcome.status === 'applied'
        ? { text: outcome.result, replayed: false }
        : { text: outcome.done, replayed: true };
    } catch (error) {
      if (error instanceof RollbackSignal) return { text: error.answer, replayed: false };
      throw isUnexplained(error) ? error : toCallProblem(error, undefined);
    }
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

/** @throws Problem that says what the failure of one call means, and SetupError and transient failures as they are */
function explained<T>(work: Promise<T>, asked: Asked, index: number): Promise<T> {
  return work.catch((error: unknown) => {
    if (isUnexplained(error)) throw error;
    throw asked.kind === 'call'
      ? toCallProblem(error, asked.call.args)
      : toCallProblem(error, asked.calls[index]!.args, index);
  });
}

/** Whether a failure says nothing of the call. */
function isUnexplained(error: unknown): boolean {
  return isTransient(error) || error instanceof SetupError;
}
