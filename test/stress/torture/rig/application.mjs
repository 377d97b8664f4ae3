/**
 * The application of the servers under test. A client's mutation n writes n into the client's row, counts its effects,
 * and moves money between two accounts of its user. So each pull shows whether it is one snapshot. Plain JavaScript, so
 * that it runs without a loader, on any copy of the package under test.
 */
import { z } from 'zod';
import { failing } from './failures.mjs';

/** A text that Postgres can store. */
const storable = z.string().refine((text) => !text.includes('\0') && text.isWellFormed());
const counted = z.object({ clientID: storable, n: z.int32() });
const transfer = counted.extend({ from: storable, to: storable, amount: z.int32() });

/** @param {typeof import('../../../../packages/tidemark/src/index.js')} tidemark */
export function applicationOf({ defineMutator, defineMutators, defineView, MutatorError, sql }) {
  const ownRows = (columns, table) =>
    defineView({
      query: ({ ctx }) => ({ text: `select ${columns} from ${table} where owner_id = $1`, values: [ctx.userID] }),
      key: 'id',
    });
  return {
    views: {
      counter: ownRows('client_id as id, n, effects', 'counter'),
      account: ownRows('id, balance', 'account'),
      document: ownRows('id, body', 'document'),
      total: defineView({
        query: ({ ctx }) => sql`
          select owner_id as id, count(*)::int as clients, sum(n)::int as mutations
          from counter where owner_id = ${ctx.userID} group by owner_id`,
        key: 'id',
      }),
    },
    mutators: defineMutators({
      work: defineMutator(transfer, async ({ tx, args: { clientID, n, from, to, amount }, ctx }) => {
        await count(tx, clientID, n, ctx);
        await tx.query(
          `update account set balance = balance + case id when $1 then -$3::int else $3::int end
           where owner_id = $4 and id in ($1, $2)`,
          [from, to, amount, ctx.userID],
        );
      }),
      count: defineMutator(counted, ({ tx, args: { clientID, n }, ctx }) => count(tx, clientID, n, ctx)),
      hit: defineMutator(async ({ tx }) => {
        const { rows } = await tx.query('select n from hot');
        await tx.query('update hot set n = $1', [rows[0].n + 1]);
      }),
      note: defineMutator(z.object({ id: storable, body: storable }), async ({ tx, args: { id, body }, ctx }) => {
        await tx.query('insert into document values ($1, $2, $3)', [id, ctx.userID, body]);
        return { id, body };
      }),
      hang: defineMutator(() => new Promise(() => {})),
      ...failing({ count, defineMutator, MutatorError }),
    }),
    /** The bearer token is the user's name. */
    authenticate: (request) => {
      const userID = /^Bearer (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1];
      return userID === undefined ? null : { userID };
    },
  };
}

async function count(tx, clientID, n, { userID }) {
  await tx.query(
    `insert into counter values ($1, $2, $3, 1)
     on conflict (client_id) do update set n = excluded.n, effects = counter.effects + 1`,
    [clientID, userID, n],
  );
  await tx.query('insert into effect values ($1, $2)', [clientID, n]);
}
