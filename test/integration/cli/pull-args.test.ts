/** `tidemark pull` of views with arguments. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { listen } from '../../../packages/tidemark/src/node.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createTables, serve } from '../wants/served.js';
import { runHere } from './command-line.js';

let database: TestDatabase;
let listening: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  database = await createTables();
  const sync = await serve(database);
  listening = await listen(sync, { log: silent, port: 0, hostname: '127.0.0.1', signals: false });
  vi.stubEnv('TIDEMARK_URL', listening.url);
  vi.stubEnv('TIDEMARK_TOKEN', 'ann');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await listening.close();
  await database.drop();
});

/** Runs `tidemark pull`. */
const pull = (...args: string[]) => runHere(['pull', ...args]);

async function idsOf(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await pull(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

it('prints the rows for the arguments', async () => {
  expect(await idsOf('issue', '--arg', 'projectID=p1')).toEqual(['i3', 'i6', 'i9']);
  expect(await idsOf('issue', 'i6', '--arg=projectID=p1')).toEqual(['i6']);
  expect(await pull('issue', '--arg', 'projectID=')).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('passes several arguments, whose types are the validator’s, and the values of a list', async () => {
  expect(await idsOf('numbered', '--arg', 'from=2', '--arg', 'to=4')).toEqual(['n2', 'n3', 'n4']);
  const all = ['numbered', '--arg', 'from=1', '--arg', 'to=4'];
  expect(await idsOf(...all, '--arg', 'tags=odd')).toEqual(['n1', 'n3']);
  expect(await idsOf(...all, '--arg', 'tags=odd', '--arg', 'tags=even')).toEqual(['n1', 'n2', 'n3', 'n4']);
});

it('prints the changes for the arguments since a cookie', async () => {
  const { stdout } = await pull('issue', '--arg', 'projectID=p2', '--since', '');
  const { patch } = JSON.parse(stdout) as { patch: { key: string }[] };
  expect(patch.flatMap(({ key }) => key ?? [])).toEqual(['issue/i1', 'issue/i4', 'issue/i7']);
});

it('names an argument that is missing or not valid, and says how to pass it', async () => {
  const missing = await pull('issue');
  expect([missing.code, missing.stdout]).toEqual([1, '']);
  expect(missing.stderr).toMatch(
    /^The arguments of the view are not valid \(422, invalid-args\)\nprojectID: .+\nPass each .+ --arg name=value\.\n$/,
  );
  const wrong = await pull('numbered', '--follow', '--arg', 'from=one');
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^from: /m)]);
});

it('names an argument that the view does not have', async () => {
  const optional = await pull('numbered', '--arg', 'from=1', '--arg', 'until=5');
  expect([optional.code, optional.stdout]).toEqual([1, '']);
  expect(optional.stderr).toContain('\nuntil: The view has only these arguments: from, to, tags\n');
  const none = await pull('project', '--arg', 'id=p1');
  expect([none.code, none.stdout]).toEqual([1, '']);
  expect(none.stderr).toContain('\nid: The view has no arguments\n');
});

it.each([
  ['secret', /must look like projectID=7/],
  ['=secret', /must look like projectID=7/],
  ['since=secret', /since is a parameter of all views/],
])('refuses the argument %s, with exit code 2', async (arg, message) => {
  const { code, stdout, stderr } = await pull('issue', '--arg', arg);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('secret');
});

it('is described by the help', async () => {
  expect((await pull('--help')).stdout).toMatch(/--arg <name=value>[\s\S]*--arg projectID=7/);
});
