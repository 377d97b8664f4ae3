/** Every fault that a test must detect, by what it breaks. */
import type { Fault } from './fault.js';
import { access } from './list/access.js';
import { capture } from './list/capture.js';
import { deltas } from './list/deltas.js';
import { transactions } from './list/transactions.js';

export const faults: readonly Fault[] = [...capture, ...transactions, ...access, ...deltas];
