/** What becomes of listeners who are seated elsewhere while a postponed question is on its way. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Statement } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { CurrentInstallation } from '../../../src/installation/current-installation.js';
import { Audiences, type Listener } from '../../../src/pokes/audiences.js';
import { Postponed } from '../../../src/pokes/postponed.js';
import { readTail } from '../../../src/store/tail.js';
import { ClientViews } from '../../../src/view/client-views.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced } from '../../support/synced.js';
import { announced, ddl, isQuestion, views } from './tailed.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createSynced(ddl, views);
});

afterAll(() => database.drop());

it.each<[string, (statement: Statement) => boolean]>([
  ['before what has changed is read', ({ name }) => name === 'tidemark_look'],
  ['before it is asked', isQuestion],
])('%s', async (_, isMeant) => {
  let onMeant = () => {};
  const pool = openPool(database.url, { max: 2 });
  const db = announced(pool, async (statement) => {
    if (isMeant(statement)) onMeant();
  });
  const installation = new CurrentInstallation(db, new ClientViews(db, views));
  const bound = await installation.bind({ ctx: { userID: 'ann' }, profileID: '', schemaVersion: '' });
  const outlook = { views: bound.views, tables: bound.installation.tables, shape: '' };
  const audiences = new Audiences();
  const listener: Listener = {
    clientGroupID: '',
    userID: 'ann',
    outlook,
    foundAt: '',
    lookUp: async () => outlook,
    poke: vi.fn(),
  };
  audiences.add(listener);
  const since = (await readTail(db, undefined, [])).snapshot;
  await database.pool.query(`insert into item (owner_id) values ('ann')`);

  onMeant = () => audiences.move(listener, { ...outlook, views: [] });
  const onFailure = vi.fn();
  const postponed = new Postponed({ db, audiences, onFailure });
  postponed.add(bound.views.find(({ view }) => view.name === 'item')!.view, since, [listener]);
  await vi.waitFor(() => expect(listener.poke).toHaveBeenCalledOnce(), { timeout: 5_000 });
  expect(listener.outlook.views).toEqual([]);
  expect(onFailure).not.toHaveBeenCalled();
  await pool.close();
});
