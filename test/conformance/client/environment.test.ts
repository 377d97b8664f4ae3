import { version } from 'replicache';
import { expect, it } from 'vitest';
import { openClient } from './client.js';

const { NODE_ENV } = process.env;

it(`the tests beside this one run replicache ${version} with NODE_ENV=${NODE_ENV}`, async () => {
  expect(version).toBe('15.3.0');
  const { rep } = openClient({ url: '' }, 'ann', { pullURL: '', pushURL: '' });
  await rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
  const list = await rep.query((tx) => tx.get('list/a'));
  // The client freezes and checks what it hands out, but not in production: this tells that it has read the variable.
  expect(Object.isFrozen(list)).toBe(NODE_ENV === 'development');
  await rep.close();
});
