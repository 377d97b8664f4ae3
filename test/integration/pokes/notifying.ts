/** Poke notifiers over a database of their own, whose statements a test sees and can delay, and views for them. */
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { ChangeLogPoller } from '../../../packages/tidemark/src/change-log/change-log-poller.js';
import type { Database, Statement } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { OpenSubscriptions } from '../../../packages/tidemark/src/pokes/open-subscriptions.js';
import { PokeNotifier } from '../../../packages/tidemark/src/pokes/poke-notifier.js';
import { SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import { type Context, createSynced } from '../../support/synced.js';

/** Rows that users own, and a table that owners do not see. */
export const ddl = `
  create table item (id serial primary key, owner_id text not null);
  create table note (owner_id text primary key);
  create table audit (id serial primary key, entry text not null)`;

const owners = ['ann', 'ben'];

/** A view of the rows that belong to the user `$1`. */
export const view = (key: string, text: (userID: string) => string) =>
  defineView<Record<string, unknown>>({
    query: ({ ctx }) => ({ text: text(ctx.userID), values: [ctx.userID] }),
    key,
  });

export const views = {
  item: view('id', () => 'select * from item where owner_id = $1'),
  note: view('owner_id', () => 'select * from note where owner_id = $1'),
  audit: view('id', (userID) =>
    owners.includes(userID)
      ? 'select id, null as entry from item where false and owner_id = $1'
      : 'select * from audit where entry <> $1',
  ),
};

/** A database that awaits `before` before it sends a statement. An error of `before` fails the statement. */
export function announced(db: Database, before: (statement: Statement) => Promise<void>): Database {
  const announce =
    (query: Database['query']) =>
    async <Row>(statement: Statement) => {
      await before(statement);
      return query<Row>(statement);
    };
  return {
    ...db,
    query: announce(db.query),
    inSnapshot: (work) => db.inSnapshot((query) => work(announce(query))),
  };
}

export interface TestSubscriber {
  readonly poke: ReturnType<typeof vi.fn>;
  unsubscribe(): void;
}

export interface NotifierFixture {
  readonly database: TestDatabase;
  /** The statements sent in this test. */
  readonly sent: Statement[];
  /** Awaited before each statement. Its error fails the statement. */
  before: (statement: Statement) => Promise<void>;
  /** Starts a notifier, which polls every 20 milliseconds by default. */
  start(intervalMs?: number): {
    readonly notifier: PokeNotifier<Context>;
    /** The users that each poll found disconnected, for the polls that found any. */
    readonly disconnected: readonly (readonly string[])[];
    readonly lines: LogLine[];
    subscribe(userID: string): Promise<TestSubscriber>;
  };
}

export const isPoll = ({ name }: Statement) => name === 'tidemark_poll_if_changed';

/** True if a statement finds the cohorts that a change affects. */
export const isAffectedQuery = ({ text }: Statement) => text.includes('tidemark_changed_');

/** The number of reads of the change log. */
export const pollCount = ({ sent }: NotifierFixture) => sent.filter(isPoll).length;

/** A database in which the views are captured, for the tests of a file. */
export function useNotifiers(setup: string, fixtureViews: Views<Context>): NotifierFixture {
  let database: TestDatabase;
  let db: Database;
  const notifiers: PokeNotifier<Context>[] = [];
  const sent: Statement[] = [];
  const fixture: NotifierFixture = {
    get database() {
      return database;
    },
    sent,
    before: async () => {},
    start(intervalMs = 20) {
      const schemaCache = new SchemaCache(db, new ClientViews(db, fixtureViews));
      const poller = new ChangeLogPoller(db, schemaCache, 100_000);
      const { log, lines } = memoryLog();
      const disconnected: string[][] = [];
      const openSubscriptions = new OpenSubscriptions();
      openSubscriptions.add({ disconnect: (userIDs) => void disconnected.push([...userIDs].sort()), close: () => {} });
      const notifier = new PokeNotifier({
        db,
        schemaCache,
        poller,
        log,
        intervalMs,
        notify: false,
        openSubscriptions,
      });
      notifiers.push(notifier);
      const subscribe = async (userID: string) => {
        const poke = vi.fn();
        const request = { clientGroupID: `group of ${userID}`, profileID: 'p', schemaVersion: '' };
        return { poke, unsubscribe: await notifier.subscribe({ userID }, request, poke) };
      };
      return { notifier, disconnected, subscribe, lines };
    },
  };
  beforeAll(async () => {
    database = await createSynced(setup, fixtureViews);
    db = announced(openPool(database.url), async (statement) => {
      sent.push(statement);
      await fixture.before(statement);
    });
  });
  beforeEach(() => {
    sent.length = 0;
    fixture.before = async () => {};
  });
  afterEach(() => {
    for (const notifier of notifiers.splice(0)) notifier.close();
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  return fixture;
}
