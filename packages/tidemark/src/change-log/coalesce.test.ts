import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Coalescer } from './coalesce.js';

/** A running batch, which the test ends. */
interface PendingBatch {
  readonly questions: readonly string[];
  answer(): void;
  fail(error: Error): void;
}

const longWaitMs = 60_000;

/** A coalescer whose batches answer `<question>!`, and its batches in the order in which they started. */
function setUp(maxWaitMs = longWaitMs) {
  const batches: PendingBatch[] = [];
  const coalescer = new Coalescer<string, string>(
    (questions) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(questions.map((question) => `${question}!`));
        batches.push({ questions, answer, fail: reject });
      }),
    maxWaitMs,
  );
  return { batches, coalescer, questions: () => batches.map((batch) => batch.questions) };
}

/** Runs every callback that is ready. */
const flushEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

it('runs a first question in its turn of the event loop, with all others of the same turn', async () => {
  const { coalescer, questions } = setUp();
  void coalescer.ask('k', 'a');
  process.nextTick(() => void coalescer.ask('k', 'b'));
  await flushEventLoop();
  expect(questions()).toEqual([['a', 'b']]);
});

it('runs simultaneous questions as one batch', async () => {
  const { coalescer, batches, questions } = setUp();
  const answers = Promise.all(['a', 'b', 'c'].map((question) => coalescer.ask('k', question)));
  await flushEventLoop();
  batches[0]!.answer();
  expect(await answers).toEqual(['a!', 'b!', 'c!']);
  expect(questions()).toEqual([['a', 'b', 'c']]);
});

it('gathers questions during a batch for the next one, and never answers them from the current one', async () => {
  const { coalescer, batches, questions } = setUp();
  const first = coalescer.ask('k', 'a');
  await flushEventLoop();
  const later = ['b', 'c', 'd'].map((question) => coalescer.ask('k', question));
  const answered: string[] = [];
  for (const answer of later) void answer.then((text) => answered.push(text));
  await flushEventLoop();
  expect(questions()).toEqual([['a']]);

  batches[0]!.answer();
  expect(await first).toBe('a!');
  await flushEventLoop();
  expect(answered).toEqual([]);
  expect(questions()).toEqual([['a'], ['b', 'c', 'd']]);
  batches[1]!.answer();
  expect(await Promise.all(later)).toEqual(['b!', 'c!', 'd!']);
});

it('answers waiting questions in the next batch, however many questions arrive', async () => {
  const { coalescer, batches, questions } = setUp();
  const answers: Promise<string>[] = [];
  for (let i = 0; i < 20; i++) {
    answers.push(coalescer.ask('k', `a${i}`), coalescer.ask('k', `b${i}`));
    await flushEventLoop();
    batches.at(-1)!.answer();
    await flushEventLoop();
  }
  batches.at(-1)!.answer();
  await Promise.all(answers);
  expect(questions()).toEqual(Array.from({ length: 20 }, (_, i) => [`a${i}`, `b${i}`]));
});

it('keeps callers together that ask again when their batch ends', async () => {
  const { coalescer, batches, questions } = setUp();
  const askTwice = async (question: string) => coalescer.ask('second', await coalescer.ask('first', question));
  const answers = Promise.all(['a', 'b', 'c'].map(askTwice));
  await flushEventLoop();
  batches[0]!.answer();
  await flushEventLoop();
  await flushEventLoop();
  expect(questions()[1]).toEqual(['a!', 'b!', 'c!']);
  batches[1]!.answer();
  expect(await answers).toEqual(['a!!', 'b!!', 'c!!']);
});

it('runs questions with different keys in different batches', async () => {
  const { coalescer, batches, questions } = setUp();
  const one = coalescer.ask('k', 'a');
  const other = coalescer.ask('l', 'b');
  await flushEventLoop();
  expect(questions()).toEqual([['a'], ['b']]);
  batches[1]!.answer();
  expect(await other).toBe('b!');
  batches[0]!.answer();
  expect(await one).toBe('a!');
});

it('rejects all questions of a failed batch, and no others', async () => {
  const { coalescer, batches } = setUp();
  const failing = Promise.allSettled([coalescer.ask('k', 'a'), coalescer.ask('k', 'b')]);
  await flushEventLoop();
  const next = coalescer.ask('k', 'c');
  const elsewhere = coalescer.ask('l', 'd');
  await flushEventLoop();
  const reason = new Error('no');
  batches[0]!.fail(reason);
  expect(await failing).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await flushEventLoop();
  for (const batch of batches.slice(1)) batch.answer();
  expect(await Promise.all([next, elsewhere])).toEqual(['c!', 'd!']);
});

it('rejects the question if its batch throws synchronously', async () => {
  const coalescer = new Coalescer<string, string>(() => {
    throw new Error('at once');
  }, longWaitMs);
  await expect(coalescer.ask('k', 'a')).rejects.toThrow('at once');
  expect(coalescer.size).toBe(0);
});

it('passes on answers that are promises one by one', async () => {
  let answerSlow = (_: string): void => {};
  const slow = new Promise<string>((resolve) => {
    answerSlow = resolve;
  });
  const answers: Record<string, () => string | Promise<string>> = {
    slow: () => slow,
    failing: () => Promise.reject(new Error('mine alone')),
    quick: () => 'now',
  };
  const coalescer = new Coalescer<string, string>(
    async (questions) => questions.map((one) => answers[one]!()),
    longWaitMs,
  );
  const first = coalescer.ask('k', 'slow');
  const failing = coalescer.ask('k', 'failing');
  await expect(failing).rejects.toThrow('mine alone');
  expect(await coalescer.ask('k', 'quick')).toBe('now');
  answerSlow('at last');
  expect(await first).toBe('at last');
});

it('starts the next batch after the maximum wait if a batch hangs', async () => {
  const { coalescer, batches, questions } = setUp(5);
  const hanging = coalescer.ask('k', 'a');
  await flushEventLoop();
  const later = Promise.all([coalescer.ask('k', 'b'), coalescer.ask('k', 'c')]);
  while (batches.length < 2) await sleep(1);
  expect(questions()).toEqual([['a'], ['b', 'c']]);
  batches[1]!.answer();
  expect(await later).toEqual(['b!', 'c!']);
  expect(coalescer.size).toBe(1);
  batches[0]!.answer();
  expect(await hanging).toBe('a!');
  await flushEventLoop();
  expect(coalescer.size).toBe(0);
});

it('leaves no timer when the batch ends before the maximum wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { coalescer, batches, questions } = setUp(5);
    const first = coalescer.ask('k', 'a');
    await flushEventLoop();
    const later = coalescer.ask('k', 'b');
    expect(vi.getTimerCount()).toBe(1);
    batches[0]!.answer();
    await first;
    await flushEventLoop();
    expect(vi.getTimerCount()).toBe(0);
    const last = coalescer.ask('k', 'c');
    batches[1]!.answer();
    expect(await later).toBe('b!');
    await flushEventLoop();
    batches[2]!.answer();
    expect(await last).toBe('c!');
    vi.advanceTimersByTime(100);
    await flushEventLoop();
    expect(questions()).toEqual([['a'], ['b'], ['c']]);
  } finally {
    vi.useRealTimers();
  }
});

it('keeps no key after all questions have been answered or rejected', async () => {
  const { coalescer, batches } = setUp();
  const answers = ['k', 'l', 'm'].flatMap((key) => [coalescer.ask(key, 'a'), coalescer.ask(key, 'b')]);
  const all = Promise.allSettled(answers);
  await flushEventLoop();
  const late = coalescer.ask('k', 'c');
  await flushEventLoop();
  expect(coalescer.size).toBe(3);
  batches[0]!.answer();
  batches[1]!.fail(new Error('no'));
  batches[2]!.answer();
  await flushEventLoop();
  batches[3]!.answer();
  await Promise.all([all, late]);
  await flushEventLoop();
  expect(coalescer.size).toBe(0);
});

it('runs at most three hanging batches at the same time', async () => {
  const { coalescer, batches } = setUp(1);
  const answers = [];
  for (let i = 0; i < 6; i++) {
    answers.push(coalescer.ask('k', String(i)));
    await sleep(5);
  }
  expect(batches.map(({ questions }) => questions.length)).toEqual([1, 1, 1]);
  batches[0]!.answer();
  await flushEventLoop();
  expect(batches.map(({ questions }) => questions.length)).toEqual([1, 1, 1, 3]);
  for (const batch of batches) batch.answer();
  expect(await Promise.all(answers)).toEqual(['0!', '1!', '2!', '3!', '4!', '5!']);
});

/** Rejects once no caller waits for the answer any more. */
function untilAbandoned(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('nobody waits'))));
}

it('aborts a long batch when all of its clients have disconnected, and only then', async () => {
  const clients = [new AbortController(), new AbortController()];
  const signals: (AbortSignal | undefined)[] = [];
  const coalescer = new Coalescer<number, string>(
    (_, signal) => {
      signals.push(signal);
      return untilAbandoned(signal);
    },
    longWaitMs,
    (index) => clients[index]?.signal,
  );
  const answers = Promise.allSettled([coalescer.ask('k', 0), coalescer.ask('k', 1)]);
  const staying = coalescer.ask('l', 2);
  staying.catch(() => {});
  clients[0]!.abort();
  await sleep(1_200);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
  clients[1]!.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  expect(await answers).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
});

it('watches the clients of a long batch, however many they are', async () => {
  const clients = Array.from({ length: 100 }, () => new AbortController());
  const coalescer = new Coalescer<number, string>(
    (_, signal) => untilAbandoned(signal),
    longWaitMs,
    (index) => clients[index]!.signal,
  );
  const answers = Promise.allSettled(clients.map((_, index) => coalescer.ask('k', index)));
  // Too many listeners on one signal would make Node warn of a leak, and a warning fails the tests.
  await sleep(1_200);
  for (const client of clients) client.abort();
  expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set(['rejected']));
});
