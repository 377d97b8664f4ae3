/** Consistency checks of sampled clients detect each of some well-known faults. */
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { loadBroken, removeCopies } from '../../stress/oracle/broken-copy.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import type { Patch } from '../../support/patch.js';
import { type PullAnswer, type PullServer, SyncClient } from '../../support/synced.js';
import { consistencyCheckOf, useCheckedDatabase, views } from './checking.js';

const fixture = useCheckedDatabase();
afterAll(removeCopies);

interface Fault {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly reports: readonly object[];
}

const faults: readonly Fault[] = [
  {
    name: 'a negation is treated as monotone',
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
      { file: 'store/patches/sides.ts', find: 'before: whole(asOf)', replace: 'before: whole(now)' },
      {
        file: 'store/patches/sides.ts',
        find: 'before: side(beforeStates, withOldRows)',
        replace: 'before: side(now, withOldRows)',
      },
    ],
    reports: [{ view: 'alone', surplus: ['alone/3'], missing: [] }, { view: 'count' }, { view: 'text' }],
  },
  {
    name: 'changed rows are not put',
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
    name: 'rows are deleted that another condition still includes',
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

describe('a consistency check finds that', () => {
  it.each(faults)(
    '$name',
    async ({ name, reports, patches }) => {
      const code = await loadBroken(name.replaceAll(' ', '-'), patches);
      const { log, lines } = memoryLog();
      // If the last delta, a large one, kept its connection, none would be left to find the differing rows.
      const pool = new pg.Pool({ connectionString: fixture.database.url, max: 1, connectionTimeoutMillis: 10_000 });
      pool.on('error', () => {});
      const broken = await code.createSync({ ...options, database: pool, log, consistencyChecks: 1 });
      const client = new SyncClient(pullsOf(broken));
      await fixture.live(client);
      const ready = await broken.fetch(new Request('http://localhost/readyz'));
      expect(await ready.json()).toMatchObject({ consistencyChecks: { comparisons: 1, differences: 1 } });
      const errors = lines.filter(({ level }) => level === 'error').map(fieldsOf);
      expect(errors).toEqual(reports.map((report) => expect.objectContaining(report)));
      const resets = lines.filter(({ message }) => message === 'The client is reset');
      expect(resets.map(({ fields }) => fields.reason)).toEqual(['inconsistent']);
      const sound = await createSync({ ...options, database: pool, log });
      const healed = new SyncClient(pullsOf(sound));
      await healed.pull();
      expect(client.held()).toEqual(healed.held());
      expect(consistencyCheckOf(client)).toMatch(/^0 /);
      // After a failure, an unreleased connection would block this, and thereby hide the failure.
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
