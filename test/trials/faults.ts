/** Every fault that the tests must notice, by the room that it is in. */
import type { Fault } from './fault.js';
import { retention } from './faults/retention.js';

const rooms: Readonly<Record<string, readonly Fault[]>> = { retention };

/** Their names begin with the room's. */
export const faults: readonly Fault[] = Object.entries(rooms).flatMap(([room, inRoom]) =>
  inRoom.map((fault) => ({ ...fault, name: `${room}: ${fault.name}` })),
);
