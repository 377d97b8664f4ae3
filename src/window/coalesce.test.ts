import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Coalescer } from './coalesce.js';

/** A run that a test ends when it likes. */
interface Held {
  readonly questions: readonly string[];
  answer(): void;
  fail(error: Error): void;
}

const forEver = 60_000;

/** A coalescer whose runs answer `<question>!`, with those under way in the order of their start. */
function setUp(patienceMs = forEver) {
  const runs: Held[] = [];
  const coalescer = new Coalescer<string, string>(
    (questions) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(questions.map((question) => `${question}!`));
        runs.push({ questions, answer, fail: reject });
      }),
    patienceMs,
  );
  return { runs, coalescer, questions: () => runs.map((run) => run.questions) };
}

/** Lets everything go on that waits for nothing. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it('runs a question that is alone in the same turn of the event loop, with all that others ask in it', async () => {
  const { coalescer, questions } = setUp();
  void coalescer.ask('k', 'a');
  process.nextTick(() => void coalescer.ask('k', 'b'));
  await settle();
  expect(questions()).toEqual([['a', 'b']]);
});

it('runs together what is asked in one moment', async () => {
  const { coalescer, runs, questions } = setUp();
  const answers = Promise.all(['a', 'b', 'c'].map((question) => coalescer.ask('k', question)));
  await settle();
  runs[0]!.answer();
  expect(await answers).toEqual(['a!', 'b!', 'c!']);
  expect(questions()).toEqual([['a', 'b', 'c']]);
});

it('gathers what is asked during a run for the next one, and never serves it by that run', async () => {
  const { coalescer, runs, questions } = setUp();
  const first = coalescer.ask('k', 'a');
  await settle();
  const later = ['b', 'c', 'd'].map((question) => coalescer.ask('k', question));
  const answered: string[] = [];
  for (const answer of later) void answer.then((text) => answered.push(text));
  await settle();
  expect(questions()).toEqual([['a']]);

  runs[0]!.answer();
  expect(await first).toBe('a!');
  await settle();
  expect(answered).toEqual([]);
  expect(questions()).toEqual([['a'], ['b', 'c', 'd']]);
  runs[1]!.answer();
  expect(await Promise.all(later)).toEqual(['b!', 'c!', 'd!']);
});

it('serves whoever has waited by the very next run, however many come meanwhile', async () => {
  const { coalescer, runs, questions } = setUp();
  const answers: Promise<string>[] = [];
  for (let i = 0; i < 20; i++) {
    answers.push(coalescer.ask('k', `a${i}`), coalescer.ask('k', `b${i}`));
    await settle();
    runs.at(-1)!.answer();
    await settle();
  }
  runs.at(-1)!.answer();
  await Promise.all(answers);
  expect(questions()).toEqual(Array.from({ length: 20 }, (_, i) => [`a${i}`, `b${i}`]));
});

it('has those who ask again when their run ends go together again', async () => {
  const { coalescer, runs, questions } = setUp();
  const askTwice = async (question: string) => coalescer.ask('second', await coalescer.ask('first', question));
  const answers = Promise.all(['a', 'b', 'c'].map(askTwice));
  await settle();
  runs[0]!.answer();
  await settle();
  await settle();
  expect(questions()[1]).toEqual(['a!', 'b!', 'c!']);
  runs[1]!.answer();
  expect(await answers).toEqual(['a!!', 'b!!', 'c!!']);
});

it('keeps different keys apart', async () => {
  const { coalescer, runs, questions } = setUp();
  const one = coalescer.ask('k', 'a');
  const other = coalescer.ask('l', 'b');
  await settle();
  expect(questions()).toEqual([['a'], ['b']]);
  runs[1]!.answer();
  expect(await other).toBe('b!');
  runs[0]!.answer();
  expect(await one).toBe('a!');
});

it('a failure reaches all members of its run, and nobody else', async () => {
  const { coalescer, runs } = setUp();
  const failing = Promise.allSettled([coalescer.ask('k', 'a'), coalescer.ask('k', 'b')]);
  await settle();
  const next = coalescer.ask('k', 'c');
  const elsewhere = coalescer.ask('l', 'd');
  await settle();
  const reason = new Error('no');
  runs[0]!.fail(reason);
  expect(await failing).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await settle();
  for (const run of runs.slice(1)) run.answer();
  expect(await Promise.all([next, elsewhere])).toEqual(['c!', 'd!']);
});

it('a run that throws at once fails like any other', async () => {
  const coalescer = new Coalescer<string, string>(() => {
    throw new Error('at once');
  }, forEver);
  await expect(coalescer.ask('k', 'a')).rejects.toThrow('at once');
  expect(coalescer.size).toBe(0);
});

it("does not wait for the members' own promises, and fails them one by one", async () => {
  let answerSlow = (_: string): void => {};
  const slow = new Promise<string>((resolve) => {
    answerSlow = resolve;
  });
  const own: Record<string, () => string | Promise<string>> = {
    slow: () => slow,
    failing: () => Promise.reject(new Error('mine alone')),
    quick: () => 'now',
  };
  const coalescer = new Coalescer<string, string>(async (asked) => asked.map((one) => own[one]!()), forEver);
  const first = coalescer.ask('k', 'slow');
  const failing = coalescer.ask('k', 'failing');
  await expect(failing).rejects.toThrow('mine alone');
  expect(await coalescer.ask('k', 'quick')).toBe('now');
  answerSlow('at last');
  expect(await first).toBe('at last');
});

it('lets nobody wait beyond its patience for a run that hangs', async () => {
  const { coalescer, runs, questions } = setUp(5);
  const hanging = coalescer.ask('k', 'a');
  await settle();
  const later = Promise.all([coalescer.ask('k', 'b'), coalescer.ask('k', 'c')]);
  while (runs.length < 2) await sleep(1);
  expect(questions()).toEqual([['a'], ['b', 'c']]);
  runs[1]!.answer();
  expect(await later).toEqual(['b!', 'c!']);
  expect(coalescer.size).toBe(1);
  runs[0]!.answer();
  expect(await hanging).toBe('a!');
  await settle();
  expect(coalescer.size).toBe(0);
});

it('leaves no timer behind when the run ends before its patience', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { coalescer, runs, questions } = setUp(5);
    const first = coalescer.ask('k', 'a');
    await settle();
    const later = coalescer.ask('k', 'b');
    expect(vi.getTimerCount()).toBe(1);
    runs[0]!.answer();
    await first;
    await settle();
    expect(vi.getTimerCount()).toBe(0);
    const last = coalescer.ask('k', 'c');
    runs[1]!.answer();
    expect(await later).toBe('b!');
    await settle();
    runs[2]!.answer();
    expect(await last).toBe('c!');
    vi.advanceTimersByTime(100);
    await settle();
    expect(questions()).toEqual([['a'], ['b'], ['c']]);
  } finally {
    vi.useRealTimers();
  }
});

it('keeps no key once all is answered, be it by a failure', async () => {
  const { coalescer, runs } = setUp();
  const asked = ['k', 'l', 'm'].flatMap((key) => [coalescer.ask(key, 'a'), coalescer.ask(key, 'b')]);
  const all = Promise.allSettled(asked);
  await settle();
  const late = coalescer.ask('k', 'c');
  await settle();
  expect(coalescer.size).toBe(3);
  runs[0]!.answer();
  runs[1]!.fail(new Error('no'));
  runs[2]!.answer();
  await settle();
  runs[3]!.answer();
  await Promise.all([all, late]);
  await settle();
  expect(coalescer.size).toBe(0);
});

it('starts no more than three runs that hang', async () => {
  const { coalescer, runs } = setUp(1);
  const answers = [];
  for (let i = 0; i < 6; i++) {
    answers.push(coalescer.ask('k', String(i)));
    await sleep(5);
  }
  expect(runs.map(({ questions }) => questions.length)).toEqual([1, 1, 1]);
  runs[0]!.answer();
  await settle();
  expect(runs.map(({ questions }) => questions.length)).toEqual([1, 1, 1, 3]);
  for (const run of runs) run.answer();
  expect(await Promise.all(answers)).toEqual(['0!', '1!', '2!', '3!', '4!', '5!']);
});

/** Takes until nobody waits for it any more. */
function untilAbandoned(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('nobody waits'))));
}

it('tells a run that takes long when all who asked have gone away, and only then', async () => {
  const clients = [new AbortController(), new AbortController()];
  const signals: (AbortSignal | undefined)[] = [];
  const coalescer = new Coalescer<number, string>(
    (_, signal) => {
      signals.push(signal);
      return untilAbandoned(signal);
    },
    forEver,
    (place) => clients[place]?.signal,
  );
  const asked = Promise.allSettled([coalescer.ask('k', 0), coalescer.ask('k', 1)]);
  const staying = coalescer.ask('l', 2);
  staying.catch(() => {});
  clients[0]!.abort();
  await sleep(1_200);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
  clients[1]!.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  expect(await asked).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
});

it('watches many who wait for one run that takes long', async () => {
  const clients = Array.from({ length: 100 }, () => new AbortController());
  const coalescer = new Coalescer<number, string>(
    (_, signal) => untilAbandoned(signal),
    forEver,
    (place) => clients[place]!.signal,
  );
  const asked = Promise.allSettled(clients.map((_, place) => coalescer.ask('k', place)));
  // Too many listeners to one signal would make Node warn of a leak, and a warning fails the tests.
  await sleep(1_200);
  for (const client of clients) client.abort();
  expect(new Set((await asked).map(({ status }) => status))).toEqual(new Set(['rejected']));
});
