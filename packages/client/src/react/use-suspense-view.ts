import { ClientError } from '../client-error.js';
import type { Client } from '../create-client.js';
import type { ViewState } from '../rows/view.js';
import type { RowOf } from '../server-types.js';
import type { AnyViews } from '../types.js';
import { rowsArrival } from './rows-arrival.js';
import { useShownView, type ViewParameters } from './view-state.js';

/** The state of a view whose rows have arrived. */
export interface ArrivedView<Row> extends ViewState<Row> {
  readonly rows: readonly Row[];
}

const none: ArrivedView<never> = { rows: [], complete: false };

/**
 * Subscribes to a view as `useView` does, and suspends the component until there are rows to show, or the server has
 * answered that there are none. The option `initial` counts as rows. On a server, while hydrating, and after the client
 * is closed, the component is not suspended, and there are no rows without `initial`.
 *
 * @throws ClientError if the server refuses the view's arguments, and there are no rows to show
 */
export function useSuspenseView<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  ...[options]: ViewParameters<Views[Name]>
): ArrivedView<RowOf<Views[Name]>> {
  const { shown, isWaiting, view } = useShownView<Mutators, Views, RowOf<Views[Name]>>(client, name, options);
  if (!isWaiting) return shown.rows ? (shown as ArrivedView<RowOf<Views[Name]>>) : none;
  if (shown.refused) throw new ClientError(shown.refused.code, shown.refused.message);
  throw rowsArrival(view, client.status);
}
