/** The Prometheus metrics of a server that does everything once. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { MutatorError } from '../../../packages/tidemark/src/errors.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { counters, gauges, histograms, prometheusName } from '../../../packages/tidemark/src/telemetry/instruments.js';
import { promtool, promtoolIsMissing } from '../../support/promtool.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { mutation, pull, push, send } from '../conformance/wire.js';

const secret = 'a-secret-title';

let server: TestServer;
beforeAll(async () => {
  const refuse = defineMutator(() => {
    throw new MutatorError(`no ${secret}`);
  });
  const fail = defineMutator(() => {
    throw new Error(secret);
  });
  const misbehaving = defineMutators({ refuse, fail });
  server = await startServer({
    mutators: new Map([...mutators, ...misbehaving]),
    metrics: 'public',
    schemaVersions: ['', '7'],
  });
  const poked = await fetch(`${server.url}/sync/poke?clientGroupID=group&profileID=profile`, {
    headers: { Authorization: 'Bearer ann' },
  });
  const reader = poked.body!.getReader();
  await reader.read();
  const { cookie } = await pull(server, 'ann');
  await push(server, 'ann', [
    mutation(1, 'list.create', { id: 'l', name: secret }),
    mutation(2, 'refuse', null),
    mutation(3, 'fail', null),
  ]);
  await send(server, '/api/mutators/todo/create', { id: 't', listID: 'l', title: secret, sort: 1 });
  const answer = await pull(server, 'ann', { cookie });
  await pull(server, 'ann', { cookie: answer.cookie });
  await pull(server, 'ann', { cookie: { order: 5 } });
  for (const schemaVersion of ['8', '9']) {
    await send(server, '/sync/pull', {
      pullVersion: 1,
      clientGroupID: 'g',
      profileID: 'p',
      schemaVersion,
      cookie: null,
    });
  }
  await send(server, '/nothing', {});
  await vi.waitFor(async () => expect(await sampleOf('tidemark_poke_sent_total')).toBeGreaterThan(0));
  await reader.cancel();
});
afterAll(() => server.close());

const read = async () => (await fetch(`${server.url}/metrics`)).text();

/** The value of a series with this name and, among others, these labels. */
async function sampleOf(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  const line = (await read())
    .split('\n')
    .find((one) => new RegExp(`^${name}[{ ]`).test(one) && wanted.every((label) => one.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
}

it('every instrument has a value, except those of standbys and tenants', async () => {
  const text = await read();
  const names = [
    ...Object.entries(histograms).map(([name, instrument]) => `${prometheusName(name, instrument)}_count`),
    ...Object.entries(counters).map(([name, instrument]) => `${prometheusName(name, instrument)}_total`),
    ...Object.entries(gauges).map(([name, instrument]) => prometheusName(name, instrument)),
  ];
  // The metrics of standbys and of tenants have tests of their own.
  const own = names.filter((name) => !/^tidemark_(standby_|tenants$)/.test(name));
  expect(own.filter((name) => !new RegExp(`^${name}[{ ]`, 'm').test(text))).toEqual([]);
});

it.each<[string, Record<string, string>, number]>([
  ['tidemark_pull_requests_total', { version: '' }, 4],
  ['tidemark_pull_requests_total', { version: 'other' }, 2],
  ['tidemark_pull_duration_seconds_count', { kind: 'first', reason: '' }, 1],
  ['tidemark_pull_duration_seconds_count', { kind: 'delta' }, 1],
  ['tidemark_pull_duration_seconds_count', { kind: 'unchanged' }, 1],
  ['tidemark_pull_duration_seconds_count', { kind: 'reset', reason: 'cookie' }, 1],
  ['tidemark_pull_ops_sum', { kind: 'delta' }, 2],
  // The op that clears does not count.
  ['tidemark_pull_ops_sum', { kind: 'reset' }, 2],
  ['tidemark_push_mutations_sum', {}, 3],
  ['tidemark_mutator_duration_seconds_count', { mutator: 'todo.create', outcome: 'done' }, 1],
  ['tidemark_request_duration_seconds_count', { route: '/sync/pull', status: '200' }, 6],
  ['tidemark_request_duration_seconds_count', { route: '/api/mutators/*', status: '200' }, 1],
  ['tidemark_request_duration_seconds_count', { route: 'other', status: '404' }, 1],
  ['tidemark_semaphore_waiting', { semaphore: 'writes' }, 0],
  ['tidemark_body_memory_bytes', {}, 0],
])('%s with the labels %j is %d', async (name, labels, value) => {
  expect(await sampleOf(name, labels)).toBe(value);
});

it('the outcome distinguishes mutators that refuse from mutators that fail', async () => {
  const ran = (mutator: string, outcome: string) =>
    sampleOf('tidemark_mutator_duration_seconds_count', { mutator, outcome });
  expect(await ran('list.create', 'done')).toBeGreaterThanOrEqual(1);
  expect(await ran('refuse', 'refused')).toBeGreaterThanOrEqual(1);
  expect(await ran('fail', 'failed')).toBeGreaterThanOrEqual(1);
  expect(await ran('fail', 'done')).toBeUndefined();
});

it('metrics contain no data and no IDs of users', async () => {
  const series = (await read()).split('\n').filter((line) => !line.startsWith('#'));
  for (const text of [secret, 'ann', 'group', 'profile']) expect(series.join('\n')).not.toContain(text);
});

it('the linter of Prometheus finds no problem', { skip: promtoolIsMissing }, async () => {
  // Some of Node's own metrics have other names.
  const text = (await read())
    .split('\n\n')
    .filter((metric) => metric.startsWith('# HELP tidemark_'))
    .join('\n');
  expect(promtool(['check', 'metrics'], `${text}\n`)).toBe('');
});
