import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { root } from '../support/built.js';
import { blocksOf } from './compile.js';

it('docs/protocol.md pins the version of the logger with which the client is tested', () => {
  const pinned = blocksOf('docs/protocol.md', 'json').filter((text) => text.includes('overrides'));
  const read = (path: string) => JSON.parse(readFileSync(`${root}/${path}`, 'utf8'));
  expect(pinned).toHaveLength(1);
  const { overrides } = JSON.parse(pinned[0]!);
  expect(overrides).toEqual({ replicache: read('package.json').overrides.replicache });
  expect(overrides.replicache['@rocicorp/logger']).toBe(read('node_modules/@rocicorp/logger/package.json').version);
});
