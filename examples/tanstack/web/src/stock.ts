/** The client, and its views as collections. */
import { BasicIndex, createCollection } from '@tanstack/react-db';
import { createClient } from '@tidemark/client';
import { tidemarkCollectionOptions } from '@tidemark/client/tanstack-db';
import type { mutators } from '../../src/mutators.js';
import type { views } from '../../src/views.js';

const user = new URLSearchParams(location.search).get('user') ?? 'ann';

export const client = createClient<typeof mutators, typeof views>({
  user,
  auth: `Bearer ${user}`,
  mutators: {
    product: {
      rename: (tx, { id, name }) => tx.view('product').update(id, { name }),
      async move(tx, { id, by }) {
        const product = await tx.view('product').get(id);
        if (product) await tx.view('product').update(id, { stock: product.stock + by });
      },
    },
  },
});

export const categories = createCollection(
  tidemarkCollectionOptions({ client, view: 'category', getKey: ({ id }) => id }),
);

export const products = createCollection(
  tidemarkCollectionOptions({
    client,
    view: 'product',
    getKey: ({ id }) => id,
    autoIndex: 'eager',
    defaultIndexType: BasicIndex,
    async onUpdate({ transaction }) {
      for (const { key, changes, original } of transaction.mutations) {
        const { name, stock } = changes;
        if (name !== undefined) await client.mutate.product.rename({ id: key, name });
        if (stock !== undefined) await client.mutate.product.move({ id: key, by: stock - original.stock });
      }
    },
  }),
);
