import type { ViewState } from '../rows/view.js';

/** True if there are rows to show, or if the server has none either. */
export function hasArrived({ rows, complete }: ViewState<unknown>): boolean {
  return rows !== undefined && (complete || rows.length > 0);
}
