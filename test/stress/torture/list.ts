/** The lines in order. */
import type { Line } from './line.js';
import { brokenVariants } from './lines/broken-variants.js';
import { chaosProxy } from './lines/chaos-proxy.js';
import { failingMutators } from './lines/failing-mutators.js';
import { hostileInput } from './lines/hostile-input.js';
import { hostileUser } from './lines/hostile-user.js';
import { hotRow } from './lines/hot-row.js';
import { postgresKilled } from './lines/postgres-killed.js';
import { restored } from './lines/restored.js';
import { rollingRestarts } from './lines/rolling-restarts.js';
import { rotatedKeys } from './lines/rotated-keys.js';
import { serversKilled } from './lines/servers-killed.js';
import { stalledReaders } from './lines/stalled-readers.js';
import { twoUsers } from './lines/two-users.js';
import { chaos, ownChaos } from './long/chaos.js';
import { soak } from './long/soak.js';

export const lines: readonly Line[] = [
  postgresKilled,
  serversKilled,
  restored,
  failingMutators,
  hotRow,
  chaosProxy,
  hostileInput,
  twoUsers,
  rotatedKeys,
  rollingRestarts,
  stalledReaders,
  hostileUser,
  brokenVariants,
  chaos,
  ownChaos,
  soak,
];
