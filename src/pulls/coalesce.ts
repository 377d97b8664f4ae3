/**
 * Answers one question for each member of a run: a value, or a promise of one that the run does not wait for.
 * A rejection is every member's.
 */
export type Run<Question, Answer> = (questions: readonly Question[]) => Promise<readonly (Answer | Promise<Answer>)[]>;

interface Asked<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/** What is asked under one key. */
interface Queue<Question, Answer> {
  running: number;
  waiting: Asked<Question, Answer>[];
  patience: NodeJS.Timeout | undefined;
}

/**
 * Has what is asked at once under one key answered by one run. While a run is under way, questions gather, and the next
 * run answers them together: a run answers none that came after its start. Keeps nothing but the questions without an
 * answer.
 */
export class Coalescer<Question, Answer> {
  readonly #run: Run<Question, Answer>;
  readonly #patienceMs: number;
  readonly #queues = new Map<string, Queue<Question, Answer>>();

  /** @param patienceMs the longest that a question waits for the end of a run, lest one that hangs hold up all */
  constructor(run: Run<Question, Answer>, patienceMs: number) {
    this.#run = run;
    this.#patienceMs = patienceMs;
  }

  /** How many keys have questions without an answer. */
  get size(): number {
    return this.#queues.size;
  }

  /** @throws what the run that takes the question throws. */
  ask(key: string, question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(key) ?? { running: 0, waiting: [], patience: undefined };
      this.#queues.set(key, queue);
      if (queue.waiting.push({ question, resolve, reject }) > 1) return;
      const start = () => void this.#start(key, queue);
      // A microtask is no delay, but lets those come along who ask at this moment: the members of another run.
      if (queue.running === 0) queueMicrotask(start);
      else queue.patience = setTimeout(start, this.#patienceMs);
    });
  }

  async #start(key: string, queue: Queue<Question, Answer>): Promise<void> {
    clearTimeout(queue.patience);
    const members = queue.waiting;
    queue.waiting = [];
    queue.running++;
    try {
      const answers = await this.#run(members.map(({ question }) => question));
      for (const [i, { resolve }] of members.entries()) resolve(answers[i]!);
    } catch (error) {
      for (const { reject } of members) reject(error);
    }
    queue.running--;
    if (queue.waiting.length > 0) void this.#start(key, queue);
    else if (queue.running === 0) this.#queues.delete(key);
  }
}
