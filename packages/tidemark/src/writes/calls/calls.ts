import type { UserContext } from '../../context.js';
import type { Edges } from '../../db/database.js';
import { type MapError, Problem } from '../../errors.js';
import type { Caller } from '../../http/identify.js';
import type { Semaphore } from '../../limits/semaphore.js';
import { describeError, type Logger } from '../../log.js';
import { type Call, type CallRequest, callFingerprint } from '../../protocol/calls.js';
import type { Mutators } from '../../registry/mutators.js';
import { type PreparedCall, prepare } from '../../registry/prepare.js';
import { type AnswerFormat, asText, asValues } from '../../registry/result.js';
import { type AuditLog, noAuditLog } from '../../store/audit-log.js';
import { pruneAnswers } from '../../store/idempotency-keys.js';
import { appliedEntry, failedEntry } from '../audit-log-entries.js';
import { mutate, type Transactions } from '../mutate.js';
import { explained, isUnexplained, toCallProblem } from './call-failures.js';
import type { CallTransaction } from './call-transactions.js';
import { type AnswerClaim, explainMissing, IdempotencyKey } from './idempotency-key.js';

/** The options of `Calls`. */
export interface CallsOptions<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly transactions: Transactions<CallTransaction<Tx>>;
  /** The permits for calls. Default: calls need none. */
  readonly writes?: Semaphore | undefined;
  /** The retention of answers to calls with an idempotency key. Default: a day. */
  readonly keyRetentionSeconds?: number | undefined;
  /** Default: none. */
  readonly auditLog?: AuditLog | undefined;
  /** Maps the application's own errors to Problems and MutatorErrors. Default: none. */
  readonly mapError?: MapError | undefined;
}

/** How to run the calls of a REST request. */
export interface CallSettings {
  readonly idempotencyKey?: string | undefined;
  /** True to run and answer the calls, but roll back their transaction. */
  readonly rollback: boolean;
}

/** The answer to a request. */
export interface CallsAnswer<Answer = string> {
  /** For a REST caller, JSON text: an object for a call, an array for a batch. */
  readonly answer: Answer;
  /** True if this is the stored answer to the first request with the same idempotency key. */
  readonly replayed: boolean;
}

/** How to run the calls of any request. */
interface RunSettings<One, Answer> {
  readonly format: AnswerFormat<One, Answer>;
  readonly rollback: boolean;
  /** Called once the calls are valid. */
  readonly createClaim?: (() => AnswerClaim<Answer>) | undefined;
}

const day = 24 * 60 * 60;
const pruneEveryMs = 60_000;

/** Thrown to roll a transaction back; carries the answer. */
class RollbackSignal extends Error {
  override readonly name = 'RollbackSignal';
  readonly answer: unknown;

  constructor(answer: unknown) {
    super();
    this.answer = answer;
  }
}

/** Runs mutators: a single call, or several calls atomically in one transaction. */
export class Calls<Tx, Context extends UserContext> {
  readonly #options: CallsOptions<Tx, Context>;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CallsOptions<Tx, Context>) {
    this.#options = options;
  }

  /**
   * Runs the calls of a REST request.
   * @throws Problem, SetupError, and every transient failure.
   */
  run(request: CallRequest, caller: Caller<Context>, { rollback, idempotencyKey }: CallSettings): Promise<CallsAnswer> {
    const hasKey = idempotencyKey !== undefined && !rollback;
    const createClaim = hasKey ? () => this.#createKey(request, caller, idempotencyKey) : undefined;
    return this.#run(request, caller, { format: asText(request, rollback), rollback, createClaim });
  }

  /**
   * Runs the calls of a request by code of the server. Returns their results, one for each call.
   * @throws as `run`
   */
  async results(request: CallRequest, caller: Caller<Context>): Promise<readonly unknown[]> {
    return (await this.#run(request, caller, { format: asValues, rollback: false })).answer;
  }

  async #run<One, Answer>(
    request: CallRequest,
    caller: Caller<Context>,
    settings: RunSettings<One, Answer>,
  ): Promise<CallsAnswer<Answer>> {
    const { writes } = this.#options;
    const runAndNote = async () => {
      try {
        return await this.#runOnce(request, caller, settings);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (!settings.rollback) await this.#noteFailed(request, caller, error);
        if (error.code === 'conflict' || error.code === 'invalid-values') {
          const { code, cause } = error;
          caller.log.warn({ code, error: describeError(cause) }, 'The database refused what a call wrote');
        }
        throw error;
      }
    };
    return writes ? writes.run(caller.context.userID, runAndNote, caller.request) : runAndNote();
  }

  async #runOnce<One, Answer>(
    request: CallRequest,
    { context, requestID }: Caller<Context>,
    { format, rollback, createClaim }: RunSettings<One, Answer>,
  ): Promise<CallsAnswer<Answer>> {
    const { mutators, transactions, auditLog = noAuditLog, mapError } = this.#options;
    const calls = callsOf(request);
    const entries = calls.map(({ name }) => appliedEntry(name));
    const preparedCalls: PreparedCall<Tx, Context>[] = [];
    for (const [index, { name, args }] of calls.entries()) {
      preparedCalls.push(await explained(prepare(mutators, name, args), mapError, request, index));
    }
    const claim = createClaim?.();
    const run = async (transaction: CallTransaction<Tx> & Edges) => {
      const { tx, last } = transaction;
      const answers: One[] = [];
      for (const [index, { mutator, args }] of preparedCalls.entries()) {
        const work = async () => format.one(mutator, await mutator.run({ tx, args, ctx: context }));
        answers.push(await explained(work(), mapError, request, index));
      }
      const answer = format.all(answers);
      if (rollback) await rollBack(transaction, answer);
      if (claim) last.push(claim.store(answer));
      last.push(...auditLog.record({ userID: context.userID, requestID }, entries));
      return answer;
    };
    try {
      const outcome = await (claim
        ? mutate(transactions, run, requestID, claim).catch(explainMissing)
        : mutate<CallTransaction<Tx>, Answer, Answer>(transactions, run, requestID));
      if (outcome.status === 'failed') throw outcome.error;
      return outcome.status === 'applied'
        ? { answer: outcome.result, replayed: false }
        : { answer: outcome.done, replayed: true };
    } catch (error) {
      if (error instanceof RollbackSignal) return { answer: error.answer as Answer, replayed: false };
      throw isUnexplained(error) ? error : toCallProblem(error, mapError, undefined);
    }
  }

  #createKey(request: CallRequest, { context, log }: Caller<Context>, key: string): IdempotencyKey {
    const { keyRetentionSeconds = day } = this.#options;
    this.#pruneNowAndThen(log);
    return new IdempotencyKey({ userID: context.userID, key }, callFingerprint(request), keyRetentionSeconds);
  }

  /** Records the failed call in the audit log; if no single call is the cause, records all calls of the request. */
  async #noteFailed(
    request: CallRequest,
    { context, requestID, log }: Caller<Context>,
    { code, extensions: { index } }: Problem,
  ): Promise<void> {
    const { transactions, auditLog = noAuditLog } = this.#options;
    const calls = callsOf(request).filter((_, callIndex) => index === undefined || index === callIndex);
    const entries = calls.map(({ name }) => failedEntry(name, code));
    const [statement] = auditLog.record({ userID: context.userID, requestID }, entries);
    if (statement === undefined) return;
    const record = async ({ last }: Edges) => last.push(statement);
    await transactions.transact(record, []).catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'A failed call is missing from the audit log');
    });
  }

  #pruneNowAndThen(log: Logger): void {
    if (performance.now() - this.#prunedAt < pruneEveryMs) return;
    this.#prunedAt = performance.now();
    const { transactions, keyRetentionSeconds = day } = this.#options;
    const prune = async ({ query }: CallTransaction<Tx>) => query && pruneAnswers(query, keyRetentionSeconds);
    transactions.transact(prune, []).catch((error: unknown) => {
      const message = 'Could not prune old idempotency keys; trying again in a minute';
      log.warn({ error: describeError(error) }, message);
    });
  }
}

function callsOf(request: CallRequest): readonly Call[] {
  return request.kind === 'call' ? [request.call] : request.calls;
}

/** Rolls the transaction back. @throws the error that a commit would throw, or else a RollbackSignal with the answer */
async function rollBack<Tx>({ query }: CallTransaction<Tx>, answer: unknown): Promise<never> {
  await query?.('set constraints all immediate', []);
  throw new RollbackSignal(answer);
}
