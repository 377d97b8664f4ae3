/** Mutators that return what they received, over real HTTP and a real database. */
import { z } from 'zod';
import { MutatorError } from '../../../packages/tidemark/src/errors.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { listen } from '../../../packages/tidemark/src/node.js';
import {
  defineMutator,
  defineMutators,
  type MutatorCall,
  type Mutators,
} from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';

/** Text, because it keeps every escape; jsonb does not accept U+0000. */
const ddl = 'create table echoed (args text)';

async function echo({
  tx,
  args,
}: Pick<MutatorCall<unknown, { query: Query }, never>, 'tx' | 'args'>): Promise<unknown> {
  const text = JSON.stringify(args) as string | undefined;
  const { rows } = await tx.query('insert into echoed values ($1) returning args', [text]);
  const [row] = rows as [{ args: string | null }];
  return row.args === null ? undefined : JSON.parse(row.args);
}

type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

const storable = z.string().regex(/^[^\0]*$/);
const id = z.string().regex(/^[a-z0-9-]{1,20}$/);
const tree = z.object({
  name: storable.max(20),
  get children() {
    return z.array(tree).max(3).optional();
  },
});

export const fuzzedMutators: Mutators = defineMutators({
  echo: {
    any: defineMutator(echo),
    text: defineMutator(storable, async ({ tx, args }) => {
      const { rows } = await tx.query('insert into echoed values ($1) returning args', [args]);
      return rows[0].args;
    }),
    user: defineMutator(({ ctx }) => ctx.userID),
  },
  typed: {
    nothing: defineMutator(z.undefined(), echo),
    scalars: defineMutator(
      z.object({
        id,
        flag: z.boolean(),
        none: z.null(),
        title: storable.min(1).max(50),
        anything: z.json().optional(),
      }),
      echo,
    ),
    numbers: defineMutator(
      z.strictObject({
        any: z.number(),
        whole: z.int(),
        few: z.int().min(-5).max(5),
        share: z.number().gt(0).lt(1),
        positive: z.number().positive().optional(),
        int32: z.int32().nullable(),
      }),
      echo,
    ),
    choice: defineMutator(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('point'), x: z.number(), y: z.number() }),
        z.object({ kind: z.literal('label'), text: storable, size: z.enum(['s', 'm', 'l']).default('m') }),
        z.object({ kind: z.enum(['gap', 'end']), at: z.union([z.string(), z.number(), z.literal(false)]) }),
      ]),
      echo,
    ),
    nested: defineMutator(
      z.object({
        rows: z
          .array(z.array(z.object({ id, tags: z.array(z.string()).max(3).optional() })).max(4))
          .min(1)
          .max(4),
      }),
      echo,
    ),
    record: defineMutator(
      z.record(z.string().regex(/^[a-z_]{1,8}$/), z.union([z.number(), z.array(z.string())])),
      echo,
    ),
    loose: defineMutator(
      z.looseObject({ id: z.uuid(), at: z.iso.datetime(), pair: z.tuple([z.int(), z.string()]) }),
      echo,
    ),
    both: defineMutator(z.intersection(z.object({ id }), z.object({ mail: z.email() })), echo),
    tree: defineMutator(tree, echo),
    refused: defineMutator(z.object({ status: z.literal([400, 403, 404, 409, 410, 418, 429, 499]) }), ({ args }) => {
      throw new MutatorError('Refused on purpose', { status: args.status });
    }),
  },
});

export interface Fuzzed {
  /** Without a trailing slash. */
  readonly url: string;
  readonly database: TestDatabase;
  readonly lines: LogLine[];
  close(): Promise<void>;
}

/**
 * Serves mutators to any caller with a name: `Authorization: Bearer <name>`.
 * @param prepare creates the tables that they write to
 */
export async function serveFuzzed(
  mutators: Mutators,
  prepare: (pool: TestDatabase['pool']) => Promise<unknown> = (pool) => pool.query(ddl),
): Promise<Fuzzed> {
  const database = await createEmptyDatabase();
  await prepare(database.pool);
  await migrate({ database: database.url, views: {}, log: silent });
  const { log, lines } = memoryLog();
  const authenticate = (request: Request) => {
    const userID = request.headers.get('Authorization')?.match(/^Bearer (.+)$/)?.[1];
    return userID === undefined ? null : { userID };
  };
  const sync = await createSync({ database: database.url, views: {}, mutators, authenticate, log });
  const { url, close: stop } = await listen(sync, {
    log,
    port: 0,
    hostname: '127.0.0.1',
    signals: false,
    drainMs: 1_000,
  });
  return {
    url,
    database,
    lines,
    async close() {
      await stop();
      await database.drop();
    },
  };
}
