import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();

it('a mutator that fails when it is repeated loses only its own effect, and stops no pull', async () => {
  const consoleError = vi.spyOn(console, 'error').mockImplementation(() => {});
  const ann = application.client({
    user: randomUUID(),
    mutators: {
      list: {
        create: async (tx, { id, name }) => {
          await tx.view('list').set(id, { id, name, ownerID: 'me' });
          await tx.view('list').delete('base');
          if (name === 'Fails later' && tx.reason === 'rebase') throw new Error('Not twice');
        },
      },
    },
  });
  await application.server.pool.query(`insert into list (id, name, owner_id) values ('base', 'Base', 'ann')`);
  await expect.poll(() => ann.view('list').list()).toHaveLength(1);
  // The server has not answered, and temporarily cannot apply the mutation, so it stays pending.
  const busy = Object.assign(new Error('A lock is not available'), { code: '55P03' });
  await application.server.stop();
  const names = async () => (await ann.view('list').list()).map(({ name }) => name).sort();
  await ann.mutate.list.create({ id: 'a', name: 'Fails later' });
  expect(await names()).toEqual(['Fails later']);
  await application.server.start({
    mutators: new Map([['list.create', { run: () => Promise.reject(busy), validator: undefined }]]) as never,
  });
  await application.server.pool.query(`insert into list (id, name, owner_id) values ('b', 'From elsewhere', 'ann')`);
  await expect.poll(names, { timeout: 20_000 }).toEqual(['Base', 'From elsewhere']);
  expect(ann.pending.get()).toHaveLength(1);
  await ann.pull();
  const texts = consoleError.mock.calls
    .map(([text]) => String(text))
    .filter((text) => text.includes('"list.create" failed'));
  expect(texts).toEqual([expect.stringMatching(/repeated on newer data.*What to do/)]);
  consoleError.mockRestore();
  await application.server.stop();
  await application.server.start();
  // Pulls now, without waiting for the next try.
  await ann.pull();
  await expect.poll(() => ann.pending.get(), { timeout: 20_000 }).toEqual([]);
  await expect.poll(names).toEqual(['Base', 'Fails later', 'From elsewhere']);
}, 60_000);
