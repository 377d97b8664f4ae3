import { Replicache, version } from 'replicache';
import { expect, it } from 'vitest';
import { SyncEngine } from '../../../../packages/client/src/sync/sync-engine.js';
import { openClient } from './client.js';

const { NODE_ENV, TIDEMARK_TEST_ENGINE: engine } = process.env;

it('the tests in this folder run a known engine', async () => {
  const { rep } = openClient({ url: '' }, 'ann', { pullURL: '', pushURL: '' });
  expect(rep).toBeInstanceOf({ replicache: Replicache, tidemark: SyncEngine }[engine!]!);
  await rep.close();
});

it.runIf(engine === 'replicache')(
  `the tests in this folder run replicache ${version} with NODE_ENV=${NODE_ENV}`,
  async () => {
    expect(version).toBe('15.3.0');
    const { rep } = openClient({ url: '' }, 'ann', { pullURL: '', pushURL: '' });
    await rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
    const list = await rep.query((tx) => tx.get('list/a'));
    // The client freezes and checks what it returns, except in production. This shows that it has read the variable.
    expect(Object.isFrozen(list)).toBe(NODE_ENV === 'development');
    await rep.close();
  },
);
