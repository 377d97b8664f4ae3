/** A process that attacks a server, so that what keeps it busy does not delay those who measure. */
import { attacks, type Order } from './attacks.js';

process.on('message', (order: Order) => {
  attacks[order.name]!(order);
  process.send?.({});
});
process.on('disconnect', () => process.exit());
process.send?.({ url: '' });
