/** What is parsed in steps means the same as what is parsed at once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../errors.js';
import { parse, parseText } from './parse.js';

const stepLength = 16 * 1024;

/** Long enough to be parsed in steps; so many bytes of the text lie before the end of the first one. */
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
  // Byte order marks in texts; between tokens, the tokenizer skips them.
  ...['"\ufeffa\ufeff"', '{"\ufeff":["\\\\\ufeff"]}', '"\\\ufeff"'],
);
const texts = fc.oneof(fc.json(), fc.json({ stringUnit: 'grapheme' }), odd);
const pieces = fc.constantFrom('', '0', '"', '\\', '[', ']', '{', '}', ',', ':', 'e', '-', '.', 'u', '\n', '\u{1f600}');

/** Texts of which some characters are missing or others. */
const edited = fc.tuple(texts, fc.nat(), fc.nat(2), pieces).map(([text, at, removed, added]) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + added + text.slice(place + removed);
});

async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { value: await read() };
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return { code: (error as Problem).code, message: (error as Problem).message };
  }
}

it('any text, wherever a step ends', async () => {
  const anyText = fc.oneof(texts, edited).filter((text) => text.isWellFormed());
  await fc.assert(
    fc.asyncProperty(anyText, fc.nat(100), async (text, before) => {
      expect(await outcome(() => parse(long(text, before)))).toStrictEqual(await outcome(() => parseText(text)));
    }),
    { numRuns: 3_000 },
  );
});

it.each(['[1.0, 9007199254740994, 1e22]', '[9007199254740993]', '[0.12345678901234567891]', '[1e400]'])(
  'numbers that a double cannot hold: %s',
  async (text) => {
    const exact = { exactNumbers: true };
    const asked = await outcome(() => parse(long(text, 3), exact));
    expect(asked).toStrictEqual({
      ...((await outcome(() => parseText(text, exact))) as object),
      ...('message' in (asked as object) && { message: expect.stringMatching(/^A number has digits .*; send it as/) }),
    });
  },
);

/** How many turns the event loop has while work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work.finally(() => {
    isDone = true;
  });
  return turns;
}

it('lets others have their turn', async () => {
  const body = Buffer.from(`[${'[],'.repeat(stepLength)}1]`);
  // Each has three steps, and none is done beside another.
  expect(await turnsDuring(Promise.all([parse(body), parse(body), parse(body)]))).toBeGreaterThanOrEqual(9);
});

it('lets others have their turn within a long text', async () => {
  const body = Buffer.from(JSON.stringify('x'.repeat(40 * stepLength)));
  expect(await turnsDuring(parse(body))).toBeGreaterThanOrEqual(40);
});
