/** The common parts of these examples: they open a database, identify the caller, and listen. */
import pg from 'pg';
import { createSync, migrate, type SyncOptions, type UserContext } from 'tidemark';
import { addressFromEnvironment, listen, logFromEnvironment, openDatabase } from 'tidemark/node';

interface Application<Tx> extends Pick<SyncOptions<UserContext, Tx>, 'views' | 'mutators'> {
  /** Creates the application's tables. */
  readonly createTables: (url: string) => Promise<void>;
  readonly tx: (client: pg.PoolClient) => Tx;
}

export async function serve<Tx>({ createTables, ...application }: Application<Tx>): Promise<void> {
  const log = logFromEnvironment();
  const database = await openDatabase({ log }); // DATABASE_URL, or an embedded Postgres
  // In UTC, because Prisma writes times without a zone and means UTC.
  const pool = new pg.Pool({ connectionString: database.url, options: '-c timezone=UTC' });
  await createTables(database.url);
  await migrate({ database: pool, views: application.views, log });
  const options = { basePath: '/tidemark', metrics: 'authenticated' } as const;
  const sync = await createSync({ ...application, ...options, database: pool, authenticate, log });
  const close = () =>
    sync
      .close()
      .then(() => pool.end())
      .then(database.close);
  await listen({ ...sync, close, lost: database.lost }, { log, ...addressFromEnvironment('127.0.0.1') });
}

/** Check a token or a session here: this example trusts anyone. */
function authenticate(request: Request): UserContext | null {
  const name = /^Bearer (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1];
  return name === undefined ? null : { userID: name };
}
