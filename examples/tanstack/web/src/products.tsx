import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useRef, useState } from 'react';
import type { Product } from '../../src/views.js';
import { ProductRow } from './product-row.js';

interface ProductsProps {
  readonly products: readonly (Product & { readonly $hasPendingWrites: boolean })[];
}

const rowHeight = 44;

/** The products. Only the visible ones and the edited one are in the DOM. */
export function Products({ products }: ProductsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [editing, setEditing] = useState<string>();
  // A rename by another user moves the row in the list. The edit must survive that.
  const edited = editing === undefined ? -1 : products.findIndex(({ id }) => id === editing);
  const virtualizer = useVirtualizer({
    count: products.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => products[index]!.id, [products]),
    estimateSize: () => rowHeight,
    overscan: 8,
    rangeExtractor: useCallback(
      (range: Range) => {
        const rows = defaultRangeExtractor(range);
        return edited < 0 || rows.includes(edited) ? rows : [...rows, edited];
      },
      [edited],
    ),
  });
  return (
    <div className="products" ref={scroller}>
      <ul aria-label="Products" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <li key={key} data-id={key} style={{ height: rowHeight, transform: `translateY(${start}px)` }}>
            <ProductRow
              product={products[index]!}
              unsaved={products[index]!.$hasPendingWrites}
              onEditing={setEditing}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
