/** For TanStack DB: the views of a client as collections. */

export {
  type OnDemandConfig,
  type OnDemandOptions,
  type RowObject,
  type TidemarkCollectionConfig,
  type TidemarkCollectionOptions,
  tidemarkCollectionOptions,
} from './tanstack-db/collection-options.js';
export type { OrderField } from './tanstack-db/requested-instances.js';
