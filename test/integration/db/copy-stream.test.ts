/** COPY output, however its messages are split on the network. */
import { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

/** A socket that returns at most this many bytes at a time. */
class CuttingSocket extends Socket {
  readonly #size: number;

  constructor(size: number) {
    super();
    this.#size = size;
  }

  /** @param size 0 if Node's streams only request that more bytes be fetched */
  override read(size?: number): unknown {
    if (size === 0 || this.readableLength === 0) return super.read(size);
    return super.read(Math.min(this.#size, this.readableLength));
  }
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`create function noisy(n int) returns int language plpgsql as
    $$ begin raise warning 'row %', n; perform set_config('application_name', 'row ' || n, false); return 6 / (n - 4); end $$`);
});
afterAll(() => database.drop());

describe.each([1, 2, 3, 4, 5, 6, 7, 64, 1_000_000])('a COPY with messages in pieces of %i bytes', (size) => {
  let pool: pg.Pool;
  let db: Database;
  beforeAll(() => {
    const { url } = database;
    pool = new pg.Pool({ connectionString: url, max: 1, stream: () => new CuttingSocket(size) });
    // `end` does not wait for the connections to close, so dropping the database may still break them.
    pool.on('error', () => {});
    db = openPool(pool);
  });
  afterAll(async () => {
    await db.close();
    await pool.end();
  });

  async function copied(query: string): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of db.copy(`copy (${query}) to stdout`)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }
  const backend = async () => (await pool.query('select pg_backend_pid() as id')).rows[0].id;

  it('returns rows of any length whole, and its connection is used again', async () => {
    const before = await backend();
    const length = size < 64 ? 300 : 300_000;
    expect(await copied(`select repeat('ü', n * ${length}) from generate_series(0, 3) n`)).toBe(
      [0, 1, 2, 3].map((n) => `${'ü'.repeat(n * length)}\n`).join(''),
    );
    expect(await copied('select where false')).toBe('');
    expect(await copied('select from generate_series(1, 3)')).toBe('\n\n\n');
    expect(await backend()).toBe(before);
  });

  it('ignores messages of other kinds between the rows', async () => {
    expect(await copied('select noisy(n) from generate_series(5, 7) n')).toBe('6\n3\n2\n');
  });

  it('throws an error that comes after some rows, and the pool stays usable', async () => {
    await expect(copied('select noisy(n) from generate_series(1, 9) n')).rejects.toMatchObject({ code: '22012' });
    await expect(copied('select nothing')).rejects.toMatchObject({ code: '42703' });
    expect(await copied('select 1')).toBe('1\n');
  });
});
