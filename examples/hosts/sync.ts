/** The application that every host serves: a view, a mutator, and who is asking. */
import {
  createSync,
  defineMutator,
  defineMutators,
  defineView,
  lazySync,
  migrate,
  sql,
  type UserContext,
} from 'tidemark';
import { z } from 'zod';

const note = defineView({
  query: ({ ctx }) => sql<{ id: string; body: string }>`select id, body from note where owner_id = ${ctx.userID}`,
  key: 'id',
});

const create = defineMutator(z.object({ id: z.string(), body: z.string() }), async ({ tx, args, ctx }) => {
  await tx.query('insert into note (id, owner_id, body) values ($1, $2, $3)', [args.id, ctx.userID, args.body]);
});

// Check a token or a session here: this example trusts anyone.
function authenticate(request: Request): UserContext | null {
  const name = request.headers.get('Authorization')?.replace('Bearer ', '');
  return name ? { userID: name } : null;
}

const views = { note };
const mutators = defineMutators({ note: { create } });

async function start() {
  const database = process.env.DATABASE_URL!;
  await migrate({ database, views });
  return createSync({ database, views, mutators, authenticate, basePath: '/tidemark', metrics: 'authenticated' });
}

// Development servers load this file again when it changes, and some hosts load it several times.
const kept = globalThis as { tidemark?: ReturnType<typeof lazySync> };
kept.tidemark ??= lazySync(start);
export const sync = kept.tidemark;
