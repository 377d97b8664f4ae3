/** Every fault that the tests must notice, by the room that it is in. */
import type { Fault } from './fault.js';
import { altering } from './list/altering.js';
import { auditing } from './list/auditing.js';
import { authenticating } from './list/authenticating.js';
import { bounding } from './list/bounding.js';
import { calling } from './list/calling.js';
import { capture } from './list/capture.js';
import { changing } from './list/changing.js';
import { cookies } from './list/cookies.js';
import { deltas } from './list/deltas.js';
import { dividing } from './list/dividing.js';
import { documenting } from './list/documenting.js';
import { doors } from './list/doors.js';
import { examining } from './list/examining.js';
import { forwarding } from './list/forwarding.js';
import { housing } from './list/housing.js';
import { installing } from './list/installing.js';
import { journaling } from './list/journaling.js';
import { living } from './list/living.js';
import { loggingOut } from './list/logging-out.js';
import { nesting } from './list/nesting.js';
import { poking } from './list/poking.js';
import { pooling } from './list/pooling.js';
import { promoting } from './list/promoting.js';
import { pulling } from './list/pulling.js';
import { pushing } from './list/pushing.js';
import { reading } from './list/reading.js';
import { refusing } from './list/refusing.js';
import { requests } from './list/requests.js';
import { retention } from './list/retention.js';
import { sharing } from './list/sharing.js';
import { standingBy } from './list/standing-by.js';
import { streaming } from './list/streaming.js';
import { transactions } from './list/transactions.js';
import { upgrading } from './list/upgrading.js';
import { viewing } from './list/viewing.js';
import { windowing } from './list/windowing.js';
import { working } from './list/working.js';

const rooms: Readonly<Record<string, readonly Fault[]>> = {
  auditing,
  capture,
  installing,
  examining,
  retention,
  transactions,
  pooling,
  pushing,
  refusing,
  nesting,
  forwarding,
  viewing,
  cookies,
  promoting,
  altering,
  pulling,
  changing,
  deltas,
  dividing,
  sharing,
  windowing,
  standingBy,
  streaming,
  poking,
  bounding,
  calling,
  reading,
  requests,
  authenticating,
  doors,
  loggingOut,
  documenting,
  journaling,
  living,
  working,
  housing,
  upgrading,
};

/** Their names begin with the room's. */
export const faults: readonly Fault[] = Object.entries(rooms).flatMap(([room, inRoom]) =>
  inRoom.map((fault) => ({ ...fault, name: `${room}: ${fault.name}` })),
);
