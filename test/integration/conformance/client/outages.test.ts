import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { mutators } from '../../../../examples/tasks/src/mutators.js';
import { defineMutator } from '../../../../packages/tidemark/src/registry/mutators.js';
import type { TestClient } from './client.js';
import { useFixture } from './fixture.js';

let outages = 0;

/** Shows if it is applied twice. As long as `outages` is positive, it terminates its database connection. */
const append = defineMutator(async ({ tx, args }) => {
  await tx.query('update todo set title = title || $1', [args]);
  if (outages > 0) {
    outages--;
    await tx.query('select pg_terminate_backend(pg_backend_pid())');
  }
});

const fixture = useFixture({ mutators: new Map([...mutators, ['append', append]]) });
const moreMutators = { append: async () => {} };

let ann: TestClient;

beforeEach(async () => {
  outages = 0;
  await fixture.server.pool.query(`
    insert into list (id, owner_id, name) values ('l', 'ann', 'Groceries');
    insert into todo (id, list_id, title, sort) values ('t', 'l', '', 1)`);
  ann = fixture.client('ann', { moreMutators });
});

async function title(): Promise<string> {
  return (await fixture.server.pool.query('select title from todo')).rows[0].title;
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

describe('no mutation is lost, and none is applied twice', () => {
  it('when the connection to the database is killed in the middle of one', async () => {
    fixture.expectErrors(/non 200 response doing push: 503/);
    outages = 3;
    for (const letter of 'abc') await ann.rep.mutate.append!(letter);
    await ann.settle();
    expect(await title()).toBe('abc');
    expect(fixture.wire.pushes().filter(({ status }) => status === 503)).toHaveLength(3);
    expect(fixture.wire.pushes().at(-1)!.status).toBe(200);
    expect(fixture.server.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await ann.entries()).toMatchObject({ 'todo/t': { title: 'abc' } });
  });

  it('when all connections are killed repeatedly during pushes and pulls', async () => {
    fixture.expectErrors(/non 200 response doing pu(ll|sh): 503/);
    let killing = true;
    const killer = (async () => {
      while (killing) {
        await fixture.server.pool.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tidemark%' and datname = current_database()",
        );
        await sleep(30);
      }
    })();
    for (const letter of letters) {
      await ann.rep.mutate.append!(letter);
      void ann.rep.pull({ now: true });
      await sleep(10);
    }
    killing = false;
    await killer;
    await ann.settle();
    expect(await title()).toBe(letters);
    const statuses = new Set(fixture.wire.exchanges.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await ann.entries()).toMatchObject({ 'todo/t': { title: letters } });
  });

  it('when the server restarts while mutations are pushed', async () => {
    fixture.expectErrors(/fetch failed|ECONNREFUSED|other side closed|50\d/);
    for (const letter of letters.slice(0, 13)) {
      await ann.rep.mutate.append!(letter);
      await sleep(4);
    }
    await fixture.server.stop();
    for (const letter of letters.slice(13)) await ann.rep.mutate.append!(letter);
    await sleep(50);
    expect(await ann.pending()).toBeGreaterThanOrEqual(13);
    await fixture.server.start();
    await ann.settle();
    expect(await title()).toBe(letters);
  });
});
