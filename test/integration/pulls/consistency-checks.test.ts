/** Consistency checks of sampled clients find nothing where nothing is wrong. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { fullRead, PullServer, SyncClient } from '../../support/synced.js';
import { changes, consistencyCheckOf, useCheckedDatabase, views } from './checking.js';

const fixture = useCheckedDatabase();

describe('a server without faults', () => {
  const servers: PullServer[] = [];
  const texts: string[] = [];
  const watch = (db: Database): Database => ({
    ...db,
    query(statement) {
      texts.push(statement.text);
      return db.query(statement);
    },
    copy(text) {
      texts.push(text);
      return db.copy(text);
    },
  });
  const start = (consistencyChecks: number) => {
    const server = new PullServer(fixture.database.url, views, watch, consistencyChecks);
    servers.push(server);
    return server;
  };
  beforeEach(() => texts.splice(0));
  afterAll(async () => {
    for (const server of servers) await server.close();
  });

  it('finds no difference at the fifth and the tenth delta of a sampled client', async () => {
    const server = start(1);
    const client = new SyncClient(server);
    await fixture.live(client);
    expect(server.consistencyChecker.state()).toEqual({ comparisons: 1, differences: 0 });
    expect(consistencyCheckOf(client)).toMatch(/^0 /);
    expect(client.held()).toEqual(await fullRead(server));
    for (let i = 0; i < 4; i++) {
      await fixture.database.pool.query(`update todo set text = text || '.' where id % 2 = 0`);
      await client.pull();
    }
    expect(consistencyCheckOf(client)).toMatch(/^4 /);
    expect(server.consistencyChecker.state().comparisons).toBe(1);
    await fixture.database.pool.query('delete from todo where id % 2 = 0');
    await client.pull();
    expect(server.consistencyChecker.state()).toEqual({ comparisons: 2, differences: 0 });
    expect(server.lines.lines).toEqual([]);
    expect(client.held()).toEqual(await fullRead(server));
  });

  it('runs no consistency check for other clients', async () => {
    const client = new SyncClient(start(0));
    await fixture.live(client);
    expect(consistencyCheckOf(client)).toBeNull();
    expect(texts.filter((text) => text.includes('tidemark_pairs_'))).toHaveLength(5);
    for (const text of texts) expect(text).not.toContain("'whole'");
  });

  it('drops a consistency check once they are off, and starts none before the next reset', async () => {
    const [on, off] = [start(1), start(0)];
    const client = new SyncClient(on);
    await client.pull();
    expect(consistencyCheckOf(client)).not.toBeNull();
    texts.splice(0);
    await fixture.database.pool.query(changes[0]!);
    await client.pull(off);
    expect(consistencyCheckOf(client)).toBeNull();
    await fixture.database.pool.query(changes[1]!);
    await client.pull(on);
    expect(consistencyCheckOf(client)).toBeNull();
    for (const text of texts) expect(text).not.toContain("'whole'");
  });

  it('also compares at a fifth delta that sends nothing', async () => {
    const server = start(1);
    const client = new SyncClient(server);
    await fixture.live(client);
    for (let i = 0; i < 4; i++) {
      await fixture.database.pool.query(`update todo set text = text || '.'`);
      await client.pull();
    }
    await fixture.database.pool.query(`update list set id = 3 where id = 3`);
    expect((await client.pull()).patch).toEqual([]);
    expect(server.consistencyChecker.state()).toEqual({ comparisons: 2, differences: 0 });
    expect(consistencyCheckOf(client)).toMatch(/^0 /);
  });
});
