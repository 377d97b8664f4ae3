import { defineView, sql } from 'tidemark';

export type Category = { readonly id: string; readonly name: string };
export type Product = {
  readonly id: string;
  readonly categoryID: string;
  readonly name: string;
  readonly stock: number;
};

/** The rows that everyone who works in the shop sees. */
export const views = {
  category: defineView({ query: () => sql<Category>`select id, name from category`, key: 'id' }),
  product: defineView({
    query: () => sql<Product>`select id, category_id as "categoryID", name, stock from product`,
    key: 'id',
  }),
};
