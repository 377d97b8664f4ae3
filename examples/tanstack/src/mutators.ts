import { defineMutator, defineMutators, MutatorError } from 'tidemark';
import { z } from 'zod';

const rename = defineMutator(
  z.object({ id: z.string(), name: z.string().trim().min(1).max(100) }),
  async ({ tx, args }) => {
    await tx.query('update product set name = $2 where id = $1', [args.id, args.name]);
  },
);

/** Stores the difference rather than the new stock, so that two people who count at the same time are both right. */
const move = defineMutator(z.object({ id: z.string(), by: z.int() }), async ({ tx, args }) => {
  const { rowCount } = await tx.query('update product set stock = stock + $2 where id = $1 and stock + $2 >= 0', [
    args.id,
    args.by,
  ]);
  if (rowCount === 0) throw new MutatorError('There are not that many left', { status: 409 });
});

export const mutators = defineMutators({ product: { rename, move } });
