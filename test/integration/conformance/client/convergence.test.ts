import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { seeded } from '../random.js';
import { useFixture } from './fixture.js';
import { randomChanges } from './random-changes.js';
import { truth } from './truth.js';

const fixture = useFixture();
const { client } = fixture;

const steps = 200;

it('three clients of two users converge with the database under random mutations and writes', async () => {
  const { pool } = fixture.server;
  const random = seeded(11);
  const { mutate, write } = randomChanges(random);
  const clients = [client('ann'), client('ann'), client('ben')];
  const one = () => clients[random(clients.length)]!;

  for (let step = 0; step < steps; step++) {
    await mutate(one());
    if (random(3) === 0) void one().rep.pull({ now: true });
    if (random(20) === 0) await write(pool);
    if (random(4) === 0) await sleep(random(12));
  }
  for (const { settle } of clients) await settle();
  for (const [i, user] of ['ann', 'ann', 'ben'].entries()) {
    const wanted = await truth(pool, user);
    const { pullUntil, entries } = clients[i]!;
    const seen = fixture.wire.pulls(clients[i]!.rep.clientID).length;
    await pullUntil(async () => fixture.wire.pulls(clients[i]!.rep.clientID).length > seen + 1);
    expect(await entries()).toEqual(wanted);
  }
  const clears = fixture.wire.pulls().filter(({ answer }) => answer.patch[0]?.op === 'clear');
  expect(clears).toEqual([]);
  expect(Object.keys(await truth(pool, 'ann')).length).toBeGreaterThan(3);
});
