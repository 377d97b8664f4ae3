import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useRef } from 'react';
import type { Product } from '../../src/views.js';
import { ProductRow } from './product-row.js';

interface ProductsProps {
  readonly products: readonly (Product & { readonly $hasPendingWrites: boolean })[];
}

const rowHeight = 44;

/** The products, of which those in sight are in the DOM. */
export function Products({ products }: ProductsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: products.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => products[index]!.id, [products]),
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  return (
    <div className="products" ref={scroller}>
      <ul aria-label="Products" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <li key={key} data-id={key} style={{ height: rowHeight, transform: `translateY(${start}px)` }}>
            <ProductRow product={products[index]!} unsaved={products[index]!.$hasPendingWrites} />
          </li>
        ))}
      </ul>
    </div>
  );
}
