import { expect, it } from 'vitest';
import { until } from './client.js';
import { useFixture } from './fixture.js';

const fixture = useFixture();
const { client } = fixture;
const timeoutMs = 120_000;
const batches = process.env.TIDEMARK_TEST_ENGINE === 'tidemark' ? 6 : 1;

it(
  '3,000 pending mutations are sent in one push by Replicache, in batches by `@tidemark/client`',
  async () => {
    const ann = client('ann', { pushDelay: 60_000 });
    await ann.rep.mutate['list.create']({ id: 'l', name: 'Groceries' });
    for (let i = 1; i < 3_000; i++) {
      await ann.rep.mutate['todo.create']({ id: `t${i}`, listID: 'l', title: `Todo ${i}`, sort: i });
    }
    const started = performance.now();
    await ann.rep.push({ now: true });
    await until(() => fixture.wire.pushes().length === batches, timeoutMs);
    console.log(`a push of 3,000 mutations by the client: ${Math.round(performance.now() - started)} ms`);
    for (const { status, answer, request } of fixture.wire.pushes()) {
      expect(status).toBe(200);
      expect(answer).toEqual({});
      expect(request.mutations).toHaveLength(3_000 / batches);
    }
    await ann.settle();
    expect(await ann.keys()).toHaveLength(3_000);
    expect((await fixture.server.pool.query('select from todo')).rowCount).toBe(2_999);
  },
  timeoutMs,
);
