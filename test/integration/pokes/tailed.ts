/** Tails over a database of their own, whose statements a test sees and holds up; and views for them. */
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import type { Database, Statement } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { CurrentInstallation } from '../../../src/installation/current-installation.js';
import { Tail } from '../../../src/pokes/tail.js';
import { ClientViews } from '../../../src/view/client-views.js';
import { defineView, type Views } from '../../../src/view/define.js';
import { Looks } from '../../../src/window/looks.js';
import type { TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import { type Context, createSynced } from '../../support/synced.js';

/** What users own, and a table that owners do not see. */
export const ddl = `
  create table item (id serial primary key, owner_id text not null);
  create table note (owner_id text primary key);
  create table audit (id serial primary key, entry text not null)`;

const owners = ['ann', 'ben'];

/** A view of the rows that belong to the user, `$1`. */
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

/** A database that says each statement before it is sent; what `before` throws fails the statement. */
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
    atOneMoment: (work) => db.atOneMoment((query) => work(announce(query))),
  };
}

export interface Listening {
  readonly poke: ReturnType<typeof vi.fn>;
  leave(): void;
}

export interface TailedDatabase {
  readonly database: TestDatabase;
  /** The statements that have been sent in this test. */
  readonly sent: Statement[];
  /** Awaited before each statement; what it throws fails the statement. */
  before: (statement: Statement) => Promise<void>;
  /** A tail that looks every 20 milliseconds, unless told otherwise. */
  start(intervalMs?: number): {
    readonly tail: Tail<Context>;
    /** The users whom each look has found disconnected, where it found any. */
    readonly disconnected: readonly (readonly string[])[];
    readonly lines: LogLine[];
    listen(userID: string): Promise<Listening>;
  };
}

export const isReading = ({ name }: Statement) => name === 'tidemark_news';

/** Whether a statement asks whom a change concerns. */
export const isQuestion = ({ text }: Statement) => text.includes('tidemark_changed_');

/** How often the change log has been read. */
export const looksOf = ({ sent }: TailedDatabase) => sent.filter(isReading).length;

/** A database with the views captured, for the tests of a file. */
export function useTailed(setup: string, tailedViews: Views<Context>): TailedDatabase {
  let database: TestDatabase;
  let db: Database;
  const tails: Tail<Context>[] = [];
  const sent: Statement[] = [];
  const tailed: TailedDatabase = {
    get database() {
      return database;
    },
    sent,
    before: async () => {},
    start(intervalMs = 20) {
      const installation = new CurrentInstallation(db, new ClientViews(db, tailedViews));
      const looks = new Looks(db, installation, 100_000);
      const { log, lines } = memoryLog();
      const disconnected: string[][] = [];
      const onDisconnect = (userIDs: ReadonlySet<string>) => void disconnected.push([...userIDs].sort());
      const tail = new Tail({
        db,
        installation,
        looks,
        log,
        intervalMs: () => intervalMs,
        notify: false,
        onDisconnect,
      });
      tails.push(tail);
      const listen = async (userID: string) => {
        const poke = vi.fn();
        const request = { clientGroupID: `group of ${userID}`, profileID: 'p', schemaVersion: '' };
        return { poke, leave: await tail.listen({ userID }, request, poke) };
      };
      return { tail, disconnected, listen, lines };
    },
  };
  beforeAll(async () => {
    database = await createSynced(setup, tailedViews);
    db = announced(openPool(database.url), async (statement) => {
      sent.push(statement);
      await tailed.before(statement);
    });
  });
  beforeEach(() => {
    sent.length = 0;
    tailed.before = async () => {};
  });
  afterEach(() => {
    for (const tail of tails.splice(0)) tail.close();
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  return tailed;
}
