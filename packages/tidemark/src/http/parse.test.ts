/** Parsing a text in steps gives the same result as parsing it in one go. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../errors.js';
import { parse, parseText } from './parse.js';

const stepLength = 16 * 1024;

/** Pads a text so that it is parsed in steps. The first step ends after `before` bytes of the text. */
const long = (text: string, before: number) => Buffer.from(`${text.padStart(stepLength - before + text.length)}      `);

const odd = fc.constantFrom(
  ...[
    '',
    ' ',
    '0',
    '-0',
    '01',
    '-',
    '1.',
    '.5',
    '1e5',
    '1E+5',
    '1e',
    '1e400',
    'NaN',
    'nul',
    'true false',
    '[1,]',
    '[1 2]',
  ],
  ...[
    '[]]',
    '{"a":1,}',
    '{"a" 1}',
    '{"a":1,"a":2}',
    '{"__proto__":{"a":1}}',
    '{"constructor":1,"":[]}',
    '"\t"',
    '"\\x"',
  ],
  ...[
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\ud83d\\ud83d\\ude00"',
    '"\\u0000"',
    '"\\u00"',
    '"\u2028"',
    '["\\b\\f\\n\\/\\""]',
  ],
  // Byte order marks within strings. The tokenizer skips them between tokens.
  ...['"\ufeffa\ufeff"', '{"\ufeff":["\\\\\ufeff"]}', '"\\\ufeff"'],
);
const texts = fc.oneof(fc.json(), fc.json({ stringUnit: 'grapheme' }), odd);
const pieces = fc.constantFrom('', '0', '"', '\\', '[', ']', '{', '}', ',', ':', 'e', '-', '.', 'u', '\n', '\u{1f600}');

/** Texts with some characters removed and others inserted. */
const edited = fc.tuple(texts, fc.nat(), fc.nat(2), pieces).map(([text, at, removed, added]) => {
  const index = at % (text.length + 1);
  return text.slice(0, index) + added + text.slice(index + removed);
});

async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { value: await read() };
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return { code: (error as Problem).code, message: (error as Problem).message };
  }
}

it('parses any text in steps with the same result as in one go', async () => {
  const anyText = fc.oneof(texts, edited).filter((text) => text.isWellFormed());
  await fc.assert(
    fc.asyncProperty(anyText, fc.nat(100), async (text, before) => {
      expect(await outcome(() => parse(long(text, before)))).toStrictEqual(await outcome(() => parseText(text)));
    }),
    { numRuns: 3_000 },
  );
});

it.each(['[1.0, 9007199254740994, 1e22]', '[9007199254740993]', '[0.12345678901234567891]', '[1e400]'])(
  'treats numbers that a double cannot hold in steps as in one go: %s',
  async (text) => {
    const exact = { exactNumbers: true };
    const actual = await outcome(() => parse(long(text, 3), exact));
    expect(actual).toStrictEqual({
      ...((await outcome(() => parseText(text, exact))) as object),
      ...('message' in (actual as object) && { message: expect.stringMatching(/^A number has digits .*; send it as/) }),
    });
  },
);

/** Counts the ticks of the event loop during some work. */
async function ticksDuring(work: Promise<unknown>): Promise<number> {
  let ticks = 0;
  let isDone = false;
  const count = (): void => {
    ticks++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work.finally(() => {
    isDone = true;
  });
  return ticks;
}

it('yields to the event loop between steps', async () => {
  const body = Buffer.from(`[${'[],'.repeat(stepLength)}1]`);
  // Each has three steps, and no two steps share a tick.
  expect(await ticksDuring(Promise.all([parse(body), parse(body), parse(body)]))).toBeGreaterThanOrEqual(9);
});

it('yields to the event loop within a long string', async () => {
  const body = Buffer.from(JSON.stringify('x'.repeat(40 * stepLength)));
  expect(await ticksDuring(parse(body))).toBeGreaterThanOrEqual(40);
});
