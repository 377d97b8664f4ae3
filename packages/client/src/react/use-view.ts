import type { Client } from '../create-client.js';
import type { ViewState } from '../rows/view.js';
import type { RowOf } from '../server-types.js';
import type { AnyViews } from '../types.js';
import { useShownView, type ViewParameters } from './view-state.js';

/**
 * Subscribes to a view, or to the instance of it with the option `args`. Returns its rows, all or those that the other
 * options select, sorted as by `client.view(name).list(options)`. The result stays the same object until it changes.
 * Options are compared by value, so they can be written inline.
 *
 * @returns `rows`: undefined until the local data has been read. Until the server has answered, they are `initial`
 * instead, if given, with the user's changes. `complete`: true once all rows have arrived from the server.
 */
export function useView<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  ...[options]: ViewParameters<Views[Name]>
): ViewState<RowOf<Views[Name]>> {
  return useShownView<Mutators, Views, RowOf<Views[Name]>>(client, name, options).shown;
}
