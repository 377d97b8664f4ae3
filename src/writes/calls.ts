import type { UserContext } from '../context.js';
import type { Edges } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { type MapError, Problem, SetupError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError, type Logger } from '../log.js';
import { type Asked, type Call, encodeAnswer, fingerprintOf } from '../protocol/calls.js';
import type { Mutators } from '../registry/mutators.js';
import { type PreparedCall, prepare } from '../registry/prepare.js';
import { encodeResult } from '../registry/result.js';
import { pruneAnswers } from '../store/idempotency-keys.js';
import { type Journal, noJournal } from '../store/journal.js';
import { toCallProblem } from './call-failures.js';
import type { CallTransaction } from './call-transactions.js';
import { appliedEntry, failedEntry } from './entries.js';
import { explainMissing, IdempotencyKey } from './idempotency-key.js';
import { mutate, type TransactFrom } from './mutate.js';

/** The options of `Calls`. */
export interface CallsOptions<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly transact: TransactFrom<CallTransaction<Tx>>;
  /** How long the answer to a call with an idempotency key is kept. */
  readonly keyRetentionSeconds: number;
  /** Default: none. */
  readonly journal?: Journal | undefined;
  /** Says what the application's own errors mean. Default: none. */
  readonly mapError?: MapError | undefined;
}

/** How one request wants its calls to be run. */
export interface CallSettings {
  readonly idempotencyKey?: string | undefined;
  /** Whether to run the calls and answer them, but roll back everything. */
  readonly rollback: boolean;
}

/** The answer to a request. */
export interface CallsAnswer {
  /** JSON text: an object for a call, an array for a batch. */
  readonly text: string;
  /** Whether this is the stored answer to the first request with the same idempotency key. */
  readonly replayed: boolean;
}

const pruneEveryMs = 60_000;

/** Thrown to roll a transaction back; carries the answer. */
class RollbackSignal extends Error {
  override readonly name = 'RollbackSignal';
  readonly answer: string;

  constructor(answer: string) {
    super();
    this.answer = answer;
  }
}

/** Runs mutators for REST callers: one, or several in one transaction, of which all are applied or none. */
export class Calls<Tx, Context extends UserContext> {
  readonly #options: CallsOptions<Tx, Context>;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CallsOptions<Tx, Context>) {
    this.#options = options;
  }

  /**
   * Runs the calls of one request.
   * @throws Problem, SetupError, and every transient failure.
   */
  async run(asked: Asked, caller: Caller<Context>, settings: CallSettings): Promise<CallsAnswer> {
    try {
      return await this.#run(asked, caller, settings);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!settings.rollback) await this.#noteFailed(asked, caller, error);
      if (error.code === 'conflict' || error.code === 'invalid-values') {
        const { code, cause } = error;
        caller.log.warn({ code, error: describeError(cause) }, 'The database refused what a call wrote');
      }
      throw error;
    }
  }

  async #run(
    asked: Asked,
    { context, requestID, log }: Caller<Context>,
    { idempotencyKey, rollback }: CallSettings,
  ): Promise<CallsAnswer> {
    const { mutators, journal = noJournal, keyRetentionSeconds, mapError } = this.#options;
    const transact: TransactFrom<CallTransaction<Tx>> = (work, first) => this.#options.transact(work, first, requestID);
    const calls = callsOf(asked);
    const applied = calls.map(({ name }) => appliedEntry(name));
    const runnable: PreparedCall<Tx, Context>[] = [];
    for (const [index, { name, args }] of calls.entries()) {
      runnable.push(await explained(prepare(mutators, name, args), mapError, asked, index));
    }
    let key: IdempotencyKey | undefined;
    if (idempotencyKey !== undefined && !rollback) {
      const ref = { userID: context.userID, key: idempotencyKey };
      key = new IdempotencyKey(ref, fingerprintOf(asked), keyRetentionSeconds);
      this.#pruneNowAndThen(log);
    }
    const run = async (transaction: CallTransaction<Tx> & Edges) => {
      const { tx, last } = transaction;
      const answers: string[] = [];
      for (const [index, { mutator, args }] of runnable.entries()) {
        const work = async () => encodeResult(mutator, await mutator.run({ tx, args, ctx: context }));
        answers.push(encodeAnswer(await explained(work(), mapError, asked, index), rollback));
      }
      const answer = asked.kind === 'call' ? answers[0]! : `[${answers.join()}]`;
      if (rollback) await takeBack(transaction, answer);
      if (key) last(key.keep(answer));
      last(...journal.keep({ userID: context.userID, requestID }, applied));
      return answer;
    };
    try {
      const outcome = await (key ? mutate(transact, run, key).catch(explainMissing) : mutate(transact, run));
      if (outcome.status === 'failed') throw outcome.error;
      return outcome.status === 'applied'
        ? { text: outcome.result, replayed: false }
        : { text: outcome.done, replayed: true };
    } catch (error) {
      if (error instanceof RollbackSignal) return { text: error.answer, replayed: false };
      throw isUnexplained(error) ? error : toCallProblem(error, mapError, undefined);
    }
  }

  /** Notes in the journal which call failed; if they cannot be committed together, that is all of them. */
  async #noteFailed(
    asked: Asked,
    { context, requestID, log }: Caller<Context>,
    { code, extensions: { index } }: Problem,
  ): Promise<void> {
    const { transact, journal = noJournal } = this.#options;
    const calls = callsOf(asked).filter((_, place) => index === undefined || index === place);
    const entries = calls.map(({ name }) => failedEntry(name, code));
    const [statement] = journal.keep({ userID: context.userID, requestID }, entries);
    if (statement === undefined) return;
    await transact(async ({ last }) => last(statement), []).catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'A call that failed is missing in the journal');
    });
  }

  #pruneNowAndThen(log: Logger): void {
    if (performance.now() - this.#prunedAt < pruneEveryMs) return;
    this.#prunedAt = performance.now();
    const { transact, keyRetentionSeconds } = this.#options;
    transact(async ({ query }) => query && pruneAnswers(query, keyRetentionSeconds), []).catch((error: unknown) => {
      const message = 'Could not prune old idempotency keys; trying again in a minute';
      log.warn({ error: describeError(error) }, message);
    });
  }
}

function callsOf(asked: Asked): readonly Call[] {
  return asked.kind === 'call' ? [asked.call] : asked.calls;
}

/** Rolls the transaction back. @throws what a commit would throw, or else a RollbackSignal with the answer. */
async function takeBack<Tx>({ query }: CallTransaction<Tx>, answer: string): Promise<never> {
  await query?.('set constraints all immediate', []);
  throw new RollbackSignal(answer);
}

/** @throws Problem if the call fails; a SetupError or a transient failure is thrown as it is. */
function explained<T>(work: Promise<T>, mapError: MapError | undefined, asked: Asked, index: number): Promise<T> {
  return work.catch((error: unknown) => {
    if (isUnexplained(error)) throw error;
    throw asked.kind === 'call'
      ? toCallProblem(error, mapError, asked.call.args)
      : toCallProblem(error, mapError, asked.calls[index]!.args, index);
  });
}

/** Whether a failure says nothing about the call itself. */
function isUnexplained(error: unknown): boolean {
  return isTransient(error) || error instanceof SetupError;
}
