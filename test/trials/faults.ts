/** Every fault that the tests must notice, by the room that it is in. */
import type { Fault } from './fault.js';
import { calling } from './faults/calling.js';
import { capture } from './faults/capture.js';
import { cookies } from './faults/cookies.js';
import { deltas } from './faults/deltas.js';
import { documenting } from './faults/documenting.js';
import { forwarding } from './faults/forwarding.js';
import { installing } from './faults/installing.js';
import { poking } from './faults/poking.js';
import { pulling } from './faults/pulling.js';
import { pushing } from './faults/pushing.js';
import { requests } from './faults/requests.js';
import { retention } from './faults/retention.js';
import { sharing } from './faults/sharing.js';
import { streaming } from './faults/streaming.js';
import { transactions } from './faults/transactions.js';
import { viewing } from './faults/viewing.js';

const rooms: Readonly<Record<string, readonly Fault[]>> = {
  capture,
  installing,
  retention,
  transactions,
  pushing,
  forwarding,
  viewing,
  cookies,
  pulling,
  deltas,
  sharing,
  streaming,
  poking,
  calling,
  requests,
  documenting,
};

/** Their names begin with the room's. */
export const faults: readonly Fault[] = Object.entries(rooms).flatMap(([room, inRoom]) =>
  inRoom.map((fault) => ({ ...fault, name: `${room}: ${fault.name}` })),
);
