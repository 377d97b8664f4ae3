/** Sampled clients are compared with their views, and nothing is found where nothing is wrong. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { fullRead, PullServer, SyncClient } from '../../support/synced.js';
import { auditOf, changes, useAudited, views } from './audited.js';

const audited = useAudited();

describe('a sound server', () => {
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
  const start = (audit: number) => {
    const server = new PullServer(audited.database.url, views, watch, audit);
    servers.push(server);
    return server;
  };
  beforeEach(() => texts.splice(0));
  afterAll(async () => {
    for (const server of servers) await server.close();
  });

  it('finds nothing at the fifth delta of a sampled client, and the tenth', async () => {
    const server = start(1);
    const client = new SyncClient(server);
    await audited.live(client);
    expect(server.auditor.state()).toEqual({ compared: 1, differences: 0 });
    expect(auditOf(client)).toMatch(/^0 /);
    expect(client.held()).toEqual(await fullRead(server));
    for (let i = 0; i < 4; i++) {
      await audited.database.pool.query(`update todo set text = text || '.' where id % 2 = 0`);
      await client.pull();
    }
    expect(auditOf(client)).toMatch(/^4 /);
    expect(server.auditor.state().compared).toBe(1);
    await audited.database.pool.query('delete from todo where id % 2 = 0');
    await client.pull();
    expect(server.auditor.state()).toEqual({ compared: 2, differences: 0 });
    expect(server.lines.lines).toEqual([]);
    expect(client.held()).toEqual(await fullRead(server));
  });

  it('asks nothing of the kind for other clients', async () => {
    const client = new SyncClient(start(0));
    await audited.live(client);
    expect(auditOf(client)).toBeNull();
    expect(texts.filter((text) => text.includes('tidemark_pairs_'))).toHaveLength(5);
    for (const text of texts) expect(text).not.toContain("'whole'");
  });

  it('takes no notice of an audit once they are off, and begins none before the next reset', async () => {
    const [on, off] = [start(1), start(0)];
    const client = new SyncClient(on);
    await client.pull();
    expect(auditOf(client)).not.toBeNull();
    texts.splice(0);
    await audited.database.pool.query(changes[0]!);
    await client.pull(off);
    expect(auditOf(client)).toBeNull();
    await audited.database.pool.query(changes[1]!);
    await client.pull(on);
    expect(auditOf(client)).toBeNull();
    for (const text of texts) expect(text).not.toContain("'whole'");
  });

  it('compares again at the next delta where the fifth told the client nothing', async () => {
    const server = start(1);
    const client = new SyncClient(server);
    await audited.live(client);
    for (let i = 0; i < 4; i++) {
      await audited.database.pool.query(`update todo set text = text || '.'`);
      await client.pull();
    }
    await audited.database.pool.query(`update list set id = 3 where id = 3`);
    expect((await client.pull()).patch).toEqual([]);
    expect(server.auditor.state()).toEqual({ compared: 2, differences: 0 });
    expect(auditOf(client)).toMatch(/^0 /);
  });
});
