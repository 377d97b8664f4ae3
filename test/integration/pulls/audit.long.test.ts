/** Sampled clients are compared with their views, which finds each of some well-known faults. */
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createSync } from '../../../src/server.js';
import { loadBroken, removeCopies } from '../../stress/oracle/broken-copy.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import type { Patch } from '../../support/patch.js';
import { type PullAnswer, type PullServer, SyncClient } from '../../support/synced.js';
import { auditOf, useAudited, views } from './audited.js';

const audited = useAudited();
afterAll(removeCopies);

interface Fault {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly reports: readonly object[];
}

const faults: readonly Fault[] = [
  {
    name: 'a negation is taken for monotone',
    patches: [
      {
        file: 'view/compile/strategy.ts',
        find: `if (bool && bool.boolop !== 'NOT_EXPR') {`,
        replace: 'if (bool) {',
      },
    ],
    reports: [{ view: 'alone', surplus: [null], missing: [] }],
  },
  {
    name: 'a view that is not incremental is compared with itself',
    patches: [
      { file: 'store/patches/sides.ts', find: 'before: whole(asof)', replace: 'before: whole(now)' },
      { file: 'store/patches/sides.ts', find: 'before: side(ownAsof, own)', replace: 'before: side(now, own)' },
    ],
    reports: [{ view: 'alone', surplus: ['alone/3'], missing: [] }, { view: 'count' }, { view: 'text' }],
  },
  {
    name: 'rows that have changed are not put',
    patches: [
      {
        file: 'store/patches/delta.ts',
        find: '(b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)',
        replace: 'b.tidemark_other is null',
      },
    ],
    reports: [{ view: 'todo' }, { view: 'count' }],
  },
  {
    name: 'a cookie forgets which transactions were in progress',
    patches: [
      {
        file: 'protocol/snapshot.ts',
        find: '[[xmax, highestXid], ...unseen]',
        replace: '[[xmax, highestXid]]',
      },
    ],
    reports: [
      { view: 'todo', surplus: [], missing: ['todo/50'] },
      { view: 'count' },
      { view: 'text', surplus: [], missing: ['text/late'] },
    ],
  },
  {
    name: 'rows go that are there for another reason',
    patches: [
      {
        file: 'store/patches/sides.ts',
        find: 'isThere: isIn(view, view.now, values)',
        replace: `isThere: 'false'`,
      },
    ],
    reports: [{ view: 'todo', surplus: [] }],
  },
];

const options = { views, authenticate: () => ({ userID: 'ada' }), rest: false } as const;

describe('finds that', () => {
  it.each(faults)(
    '$name',
    async ({ name, reports, patches }) => {
      const code = await loadBroken(name.replaceAll(' ', '-'), patches);
      const { log, lines } = memoryLog();
      // Where the last delta, a large one, kept its connection, there would be none to ask whose rows differ.
      const pool = new pg.Pool({ connectionString: audited.database.url, max: 1, connectionTimeoutMillis: 10_000 });
      pool.on('error', () => {});
      const broken = await code.createSync({ ...options, database: pool, log, audit: 1 });
      const client = new SyncClient(pullsOf(broken));
      await audited.live(client);
      const ready = await broken.fetch(new Request('http://localhost/readyz'));
      expect(await ready.json()).toMatchObject({ audits: { compared: 1, differences: 1 } });
      const found = lines.filter(({ level }) => level === 'error').map(fieldsOf);
      expect(found).toEqual(reports.map((report) => expect.objectContaining(report)));
      const resets = lines.filter(({ message }) => message === 'The client is reset');
      expect(resets.map(({ fields }) => fields.reason)).toEqual(['audit']);
      const sound = await createSync({ ...options, database: pool, log });
      const healed = new SyncClient(pullsOf(sound));
      await healed.pull();
      expect(client.held()).toEqual(healed.held());
      expect(auditOf(client)).toMatch(/^0 /);
      // After a failure, a connection that is kept would hold this up, and the failure with it.
      for (const end of [sound.close, broken.close]) await end();
      await pool.end();
    },
    200_000,
  );
});

function fieldsOf({ message, fields }: LogLine): Record<string, unknown> {
  expect(message).toBe("A client's data does not match its view; the client is reset");
  expect(fields).toMatchObject({
    since: expect.stringMatching(/^\d+:\d+:/),
    snapshot: expect.stringMatching(/^\d+:\d+:/),
  });
  expect(fields.transactions).toEqual(expect.arrayContaining([expect.stringMatching(/^\d+$/)]));
  return fields;
}

function pullsOf(sync: { fetch(request: Request): Promise<Response> }): Pick<PullServer, 'pull'> {
  return {
    async pull(cookie) {
      const body = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie };
      const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
      const response = await sync.fetch(new Request('http://localhost/sync/pull', init));
      expect(response.status).toBe(200);
      return (await response.json()) as PullAnswer;
    },
  };
}
