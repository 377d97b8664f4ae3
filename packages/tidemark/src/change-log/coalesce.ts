import { Deferred } from '../deferred.js';
import { watchForAbandonment } from '../limits/abandonment.js';

/**
 * Answers each question of a batch, with a value, or with a promise that the batch does not wait for. If the handler
 * rejects, so does every question of the batch. If there is a signal, it aborts when all callers have gone away.
 */
export type BatchHandler<Question, Answer> = (
  questions: readonly Question[],
  signal?: AbortSignal,
) => Promise<readonly (Answer | Promise<Answer>)[]>;

interface PendingQuestion<Question, Answer> {
  readonly question: Question;
  readonly answer: Deferred<Answer>;
}

/** The maximum number of running batches for one key. If they all hang, more would take even more connections. */
const maxRunning = 3;

/** The questions asked under one key. */
interface Queue<Question, Answer> {
  runningBatches: number;
  pending: PendingQuestion<Question, Answer>[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Answers all questions asked under one key at the same time in one batch. While a batch runs, questions gather, and
 * the next batch answers them together. No batch answers a question that came after the batch started. Only unanswered
 * questions are kept.
 */
export class Coalescer<Question, Answer> {
  readonly #runBatch: BatchHandler<Question, Answer>;
  readonly #maxWaitMs: number;
  readonly #signalOf: ((question: Question) => AbortSignal | undefined) | undefined;
  readonly #queues = new Map<string, Queue<Question, Answer>>();

  /**
   * @param maxWaitMs how long a question waits for running batches, so that one that hangs does not delay all
   * @param signalOf returns the signal that aborts when no caller waits for the answer any more
   */
  constructor(
    runBatch: BatchHandler<Question, Answer>,
    maxWaitMs: number,
    signalOf?: (question: Question) => AbortSignal | undefined,
  ) {
    this.#runBatch = runBatch;
    this.#maxWaitMs = maxWaitMs;
    this.#signalOf = signalOf;
  }

  /** The number of keys with unanswered questions. */
  get size(): number {
    return this.#queues.size;
  }

  /** @throws whatever the batch of the question throws. */
  ask(key: string, question: Question): Promise<Answer> {
    const queue = this.#queues.get(key) ?? { runningBatches: 0, pending: [], timer: undefined };
    this.#queues.set(key, queue);
    const answer = new Deferred<Answer>();
    if (queue.pending.push({ question, answer }) > 1) return answer.promise;
    const start = () => void this.#start(key, queue);
    // Includes the questions of all requests that have arrived by now.
    if (queue.runningBatches === 0) setImmediate(start);
    else if (queue.runningBatches < maxRunning) queue.timer = setTimeout(start, this.#maxWaitMs);
    return answer.promise;
  }

  async #start(key: string, queue: Queue<Question, Answer>): Promise<void> {
    clearTimeout(queue.timer);
    const batch = queue.pending;
    queue.pending = [];
    queue.runningBatches++;
    const questions = batch.map(({ question }) => question);
    const signalOf = this.#signalOf;
    const watch = signalOf && watchForAbandonment(() => questions.map(signalOf));
    try {
      const answers = await this.#runBatch(questions, watch?.signal);
      for (const [i, { answer }] of batch.entries()) answer.resolve(answers[i]!);
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
    watch?.end();
    queue.runningBatches--;
    if (queue.pending.length > 0) void this.#start(key, queue);
    else if (queue.runningBatches === 0) this.#queues.delete(key);
  }
}
