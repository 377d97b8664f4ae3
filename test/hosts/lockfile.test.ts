import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

const { packages } = read('examples/hosts/package-lock.json');

it("the hosts' lockfile has what the package depends on", () => {
  const { dependencies } = read('package.json');
  const message = 'run `npm install` in examples/hosts after each change of the dependencies';
  expect(packages['node_modules/tidemark'].dependencies, message).toEqual(dependencies);
});

it("the hosts' lockfile names no registry", () => {
  const resolved = Object.values<{ readonly resolved?: string }>(packages).map((entry) => entry.resolved ?? '');
  expect(resolved.filter((address) => /^https?:/.test(address))).toEqual([]);
});
