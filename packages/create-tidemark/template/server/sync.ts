/** The views, the mutators and the authentication. The client takes its types from here. */
import { defineMutator, defineMutators, defineView, sql, type UserContext } from 'tidemark';
import { z } from 'zod';

const todo = z.object({
  id: z.string().min(1).max(100),
  list: z.string().min(1).max(100),
  title: z.string().min(1).max(200),
  done: z.boolean(),
  created: z.iso.datetime(),
});

/** The rows that a user sees. */
export const views = {
  todo: defineView({
    // A page syncs the lists that it shows.
    args: todo.pick({ list: true }),
    query: ({ ctx, args }) => sql<z.infer<typeof todo>>`
      select id, list, title, done, created from todo where owner = ${ctx.userID} and list = ${args.list}`,
    key: 'id',
    timestamps: 'UTC',
  }),
};

/** The changes that a user can make. Each call is applied as a whole, or not at all. */
export const mutators = defineMutators({
  todo: {
    create: defineMutator(todo.omit({ done: true }), async ({ tx, args, ctx }) => {
      const values = [args.id, ctx.userID, args.list, args.title, args.created];
      await tx.query('insert into todo (id, owner, list, title, created) values ($1, $2, $3, $4, $5)', values);
    }),
    setDone: defineMutator(todo.pick({ id: true, done: true }), async ({ tx, args, ctx }) => {
      await tx.query('update todo set done = $1 where id = $2 and owner = $3', [args.done, args.id, ctx.userID]);
    }),
  },
});

/**
 * Identifies the caller. FOR A START ONLY: it trusts any name that a request contains. `tidemark/auth` checks tokens
 * and session cookies.
 */
export function authenticate(request: Request): UserContext | null {
  const name = request.headers.get('Authorization')?.replace('Bearer ', '');
  return name ? { userID: name } : null;
}
