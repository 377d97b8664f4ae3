import { watchForAbandonment } from '../limits/abandonment.js';

/**
 * Answers one question for each member of a run, with a value, or with a promise that the run does not wait for. If the
 * run rejects, so does every member's question. If there is a signal, it aborts when all members have gone away.
 */
export type Run<Question, Answer> = (
  questions: readonly Question[],
  signal?: AbortSignal,
) => Promise<readonly (Answer | Promise<Answer>)[]>;

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/** How many runs may be under way for one key. If they all hang, more would take ever more connections. */
const mostRunning = 3;

/** The questions asked under one key. */
interface Queue<Question, Answer> {
  running: number;
  waiting: Waiting<Question, Answer>[];
  patience: NodeJS.Timeout | undefined;
}

/**
 * Answers questions that are asked at once under one key by a single run. While a run is under way, questions gather,
 * and the next run answers them together: no run answers a question that came after it started. Only unanswered
 * questions are kept.
 */
export class Coalescer<Question, Answer> {
  readonly #run: Run<Question, Answer>;
  readonly #patienceMs: number;
  readonly #signalOf: ((question: Question) => AbortSignal | undefined) | undefined;
  readonly #queues = new Map<string, Queue<Question, Answer>>();

  /**
   * @param patienceMs the longest that a question waits for a run to end, so that one that hangs does not hold up all
   * @param signalOf returns what aborts when nobody waits for the answer to a question any more
   */
  constructor(
    run: Run<Question, Answer>,
    patienceMs: number,
    signalOf?: (question: Question) => AbortSignal | undefined,
  ) {
    this.#run = run;
    this.#patienceMs = patienceMs;
    this.#signalOf = signalOf;
  }

  /** How many keys have unanswered questions. */
  get size(): number {
    return this.#queues.size;
  }

  /** @throws whatever the run that takes the question throws. */
  ask(key: string, question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(key) ?? { running: 0, waiting: [], patience: undefined };
      this.#queues.set(key, queue);
      if (queue.waiting.push({ question, resolve, reject }) > 1) return;
      const start = () => void this.#start(key, queue);
      // Lets in the questions of all requests that have arrived by now.
      if (queue.running === 0) setImmediate(start);
      else if (queue.running < mostRunning) queue.patience = setTimeout(start, this.#patienceMs);
    });
  }

  async #start(key: string, queue: Queue<Question, Answer>): Promise<void> {
    clearTimeout(queue.patience);
    const members = queue.waiting;
    queue.waiting = [];
    queue.running++;
    const questions = members.map(({ question }) => question);
    const signalOf = this.#signalOf;
    const watch = signalOf && watchForAbandonment(() => questions.map(signalOf));
    try {
      const answers = await this.#run(questions, watch?.signal);
      for (const [i, { resolve }] of members.entries()) resolve(answers[i]!);
    } catch (error) {
      for (const { reject } of members) reject(error);
    }
    watch?.end();
    queue.running--;
    if (queue.waiting.length > 0) void this.#start(key, queue);
    else if (queue.running === 0) this.#queues.delete(key);
  }
}
