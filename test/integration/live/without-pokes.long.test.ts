import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { until } from '../conformance/client/client.js';
import { useFixture } from '../conformance/client/fixture.js';
import { randomChanges } from '../conformance/client/random-changes.js';
import { truth } from '../conformance/client/truth.js';
import { seeded } from '../conformance/random.js';

const fixture = useFixture();
const { client } = fixture;

const users = ['ann', 'ann', 'ben', 'ben'];
const steps = 150;

it('clients without pokes converge by their own pulls, regardless of who writes', async () => {
  const { pool } = fixture.server;
  const random = seeded(23);
  const { mutate, write } = randomChanges(random);
  const clients = users.map((user) => client(user, { pullInterval: 50 }));
  for (let step = 0; step < steps; step++) {
    await mutate(clients[random(clients.length)]!);
    if (random(10) === 0) await write(pool);
    if (random(3) === 0) await sleep(random(20));
  }
  const [ann, , ben] = clients;
  await ann!.rep.mutate['list.create']({ id: 'last', name: 'Of Ann' });
  await ann!.rep.mutate['list.share']({ listID: 'last', userID: 'ben' });
  await until(async () => (await ben!.keys()).includes('list/last'));
  await ben!.rep.mutate['todo.create']({ id: 'last', listID: 'last', title: 'Of Ben', sort: 1 });
  for (const { pending } of clients) await until(async () => (await pending()) === 0);
  for (const [i, user] of users.entries()) {
    const wanted = await truth(pool, user);
    expect(wanted).toHaveProperty('todo/last');
    await until(async () => isDeepStrictEqual(await clients[i]!.entries(), wanted));
  }
  expect(fixture.wire.exchanges.map(({ path }) => path)).not.toContain('/sync/poke');
});
