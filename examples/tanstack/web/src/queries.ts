/** The live queries. */
import { count, eq, type InitialQueryBuilder, ilike, sum } from '@tanstack/react-db';
import { categories, products } from './stock.js';

/** The products of a category or of all categories whose names contain a text. */
export function productsOf(q: InitialQueryBuilder, category: string, text: string) {
  let query = q.from({ product: products }).orderBy(({ product }) => product.name);
  if (category) query = query.where(({ product }) => eq(product.categoryID, category));
  if (text) query = query.where(({ product }) => ilike(product.name, `%${text}%`));
  return query;
}

/** The number of products in each category, and their total stock. */
export function totals(q: InitialQueryBuilder) {
  return q
    .from({ product: products })
    .innerJoin({ category: categories }, ({ product, category }) => eq(product.categoryID, category.id))
    .groupBy(({ category }) => [category.id, category.name])
    .select(({ product, category }) => ({
      id: category.id,
      name: category.name,
      products: count(product.id),
      stock: sum(product.stock),
    }))
    .orderBy(({ $selected }) => $selected.name);
}
