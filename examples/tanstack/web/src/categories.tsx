import { useLiveQuery } from '@tanstack/react-db';
import { totals } from './queries.js';

interface CategoriesProps {
  readonly chosen: string;
  readonly onChoose: (category: string) => void;
}

/** The categories with their totals. */
export function Categories({ chosen, onChoose }: CategoriesProps) {
  const { data: categories } = useLiveQuery(totals);
  const all = {
    id: '',
    name: 'All',
    products: categories.reduce((total, { products }) => total + products, 0),
    stock: categories.reduce((total, { stock }) => total + stock, 0),
  };
  return (
    <nav aria-label="Categories">
      {[all, ...categories].map(({ id, name, products, stock }) => (
        <button type="button" key={id} aria-current={id === chosen} onClick={() => onChoose(id)}>
          <span>{name}</span>
          <small>
            {products.toLocaleString('en')} products, {stock.toLocaleString('en')} pieces
          </small>
        </button>
      ))}
    </nav>
  );
}
