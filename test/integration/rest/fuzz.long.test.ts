/**
 * Random requests, correct and damaged, as a document of the mutators describes them. Each run sends the same ones, but
 * `FUZZ_RUNS=20000 npx vitest run test/integration/rest/fuzz.long.test.ts` sends that many of each kind, all new.
 */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mutators as exampleMutators } from '../../../examples/tasks/src/mutators.js';
import { createDocument } from '../../../packages/tidemark/src/openapi/document.js';
import type { Mutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSeeded } from '../../e2e/example/seeded.js';
import type { TestDatabase } from '../../support/database.js';
import { damaged } from './damaged.js';
import { type DocumentedCall, documentedCalls } from './documented.js';
import { type Fuzzed, fuzzedMutators, serveFuzzed } from './fuzzed.js';
import { expectSound, type Received, send } from './sent.js';

const runs = process.env.FUZZ_RUNS === undefined ? undefined : Number(process.env.FUZZ_RUNS);
const timeout = 60_000 + (runs ?? 0) * 200;

interface Target {
  readonly mutators: Mutators;
  /** Creates their tables. */
  readonly prepare?: (pool: TestDatabase['pool']) => Promise<unknown>;
  /** A query that counts what they have stored. */
  readonly count: string;
}

const everyRow = `
  select ((select count(*) from list) + (select count(*) from todo) + (select count(*) from share))::int as n`;

const targets: [string, Target][] = [
  ['mutators of many kinds', { mutators: fuzzedMutators, count: 'select count(*)::int as n from echoed' }],
  ['the example', { mutators: exampleMutators, prepare: createSeeded, count: everyRow }],
];

function holds<Value>(values: fc.Arbitrary<Value>, defaultRuns: number, property: (value: Value) => Promise<void>) {
  const settings = runs === undefined ? { numRuns: defaultRuns, seed: 1 } : { numRuns: runs };
  return fc.assert(fc.asyncProperty(values, property), settings);
}

/** A mutator can refuse. The validator cannot, because the document says that the args are correct. */
function expectAccepted(answer: Received): void {
  expectSound(answer);
  expect(answer.status, answer.text).not.toBe(422);
  if (answer.status !== 200) expect(answer.body).toMatchObject({ code: 'mutator-error' });
}

const batchPath = '/api/mutators';
const bodyOf = ({ args }: DocumentedCall) => (args === undefined ? undefined : JSON.stringify(args));
const nameOf = ({ path }: DocumentedCall) => path.slice(batchPath.length + 1).replaceAll('/', '.');

describe.each(targets)('requests to %s', async (_, { mutators, prepare, count }) => {
  const { document } = await createDocument({ mutators, basePath: '', idempotent: true });
  const requests = documentedCalls(document);
  const calls = requests.filter(({ path }) => path !== batchPath);
  const stored = async () => (await fuzzed.database.pool.query<{ n: number }>(count)).rows[0]!.n;
  let fuzzed: Fuzzed;

  beforeAll(async () => {
    fuzzed = await serveFuzzed(mutators, prepare);
  });

  afterAll(() => fuzzed.close());

  beforeEach(() => {
    fuzzed.lines.length = 0;
  });

  afterEach(async () => {
    expect((await send(fuzzed.url, { method: 'GET', path: '/readyz' })).status).toBe(200);
    expect(fuzzed.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it(
    'are accepted if the document describes them',
    () =>
      holds(requests, 400, async (call) => {
        expectAccepted(await send(fuzzed.url, { path: call.path, body: bodyOf(call) }));
      }),
    timeout,
  );

  it(
    'are accepted in batches, and a refused batch stores nothing',
    () =>
      holds(fc.array(calls, { minLength: 1, maxLength: 5 }), 100, async (batch) => {
        const before = await stored();
        const body = JSON.stringify(batch.map((call) => ({ name: nameOf(call), args: call.args })));
        const answer = await send(fuzzed.url, { path: batchPath, body });
        expectAccepted(answer);
        if (answer.status === 200) expect(answer.body).toHaveLength(batch.length);
        else expect(await stored()).toBe(before);
      }),
    timeout,
  );

  it(
    'get the same response in a dry run, which stores nothing, and when repeated with their key',
    () => {
      let n = 0;
      return holds(calls, 100, async (call) => {
        const request = { path: call.path, body: bodyOf(call) };
        const before = await stored();
        const dry = await send(fuzzed.url, { ...request, headers: { Prefer: 'tx=rollback' } });
        expect(await stored()).toBe(before);
        const headers = { 'Idempotency-Key': `"key ${n++}"` };
        const first = await send(fuzzed.url, { ...request, headers });
        const again = await send(fuzzed.url, { ...request, headers });
        expectAccepted(first);
        expect(dry.status).toBe(first.status);
        if (first.status !== 200) return;
        expect(dry.body).toEqual({ ...first.body, rolledBack: true });
        expect(again.text).toBe(first.text);
        expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      });
    },
    timeout,
  );

  it(
    'are accepted or refused without harm if they are damaged',
    async () => {
      const seen = new Set<number>();
      await holds(damaged(requests), 1_000, async (request) => {
        const answer = await send(fuzzed.url, request);
        expectSound(answer);
        if (answer.status >= 400 && request.method !== 'HEAD') expect(answer.body).toBeDefined();
        seen.add(answer.status);
      });
      // Every kind of damage has occurred.
      expect([...seen]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 415, 422]));
    },
    timeout,
  );
});
