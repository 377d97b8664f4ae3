/** A process that attacks a server. It is separate so that it does not delay the measuring process. */
import { attacks, type Order } from './attacks.js';

process.on('message', (order: Order) => {
  attacks[order.name]!(order);
  process.send?.({});
});
process.on('disconnect', () => process.exit());
process.send?.({ url: '' });
