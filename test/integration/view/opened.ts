/** A database of the test file's own. */
import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

export interface Opened {
  readonly database: TestDatabase;
  /** The database as the server uses it. */
  readonly db: Database;
}

/**
 * Creates a database for the tests of a file, and drops it after them.
 * @param statements create the tables
 * @returns the database, which tests can use
 */
export function useDatabase(statements: string): Opened {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = openPool(database.url);
    await database.pool.query(statements);
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  return {
    get database() {
      return database;
    },
    get db() {
      return db;
    },
  };
}
