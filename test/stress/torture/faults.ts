/** Known faults of the compiled package, each with the line that detects it, and the figure that shows it. */

import type { Patch } from '../../support/patch.js';
import {
  claimOfAny,
  claimWithoutLock,
  compiled,
  cursorOfTheLog,
  cursorOfXmax,
  separateLastMutationID,
} from '../oracle/classics.js';
import type { Line } from './line.js';
import { chaosProxy } from './lines/chaos-proxy.js';
import { hostileUser } from './lines/hostile-user.js';
import { hotRow } from './lines/hot-row.js';
import { postgresKilled } from './lines/postgres-killed.js';
import { serversKilled } from './lines/servers-killed.js';
import { twoUsers } from './lines/two-users.js';

export interface SeededFault {
  readonly name: string;
  readonly line: Line;
  /** The figure that must miss its goal. */
  readonly figure: RegExp;
  /** Their files are relative to `dist`. */
  readonly patches: readonly Patch[];
}

const ofMutations = /^(mutations (lost|applied twice)|objections)$/;
const ofData = /^(objections|clients that differ from a full read)$/;

export const faults: readonly SeededFault[] = [
  {
    name: 'a claim without a row lock',
    line: postgresKilled,
    figure: ofMutations,
    patches: compiled(claimWithoutLock),
  },
  {
    name: 'a lastMutationID written outside the transaction of its effects',
    line: serversKilled,
    figure: ofMutations,
    patches: compiled(separateLastMutationID),
  },
  {
    name: 'a cursor of transaction IDs instead of a snapshot',
    line: postgresKilled,
    figure: ofData,
    patches: compiled(cursorOfXmax),
  },
  {
    name: 'a cursor in log order instead of a snapshot',
    line: postgresKilled,
    figure: ofData,
    patches: compiled(cursorOfTheLog),
  },
  {
    name: 'a transaction that is not retried after a conflict',
    line: hotRow,
    figure: /^pushes that were refused$/,
    patches: [
      { file: 'db/transact.js', find: 'parallelAttempts = 2', replace: 'parallelAttempts = 1' },
      { file: 'db/transact.js', find: 'queuedAttempts = 18', replace: 'queuedAttempts = 1' },
    ],
  },
  {
    name: 'a mutation that is applied again when it is resent',
    line: chaosProxy,
    figure: ofMutations,
    patches: compiled(claimOfAny),
  },
  {
    name: 'a temporary file that stays when its client disconnects',
    line: hostileUser,
    figure: /^held by the server/,
    patches: [{ file: 'http/sending/read-ahead.js', find: 'await this.#store?.close();', replace: '' }],
  },
  {
    name: 'a shared statement that mixes up users',
    line: twoUsers,
    figure: /^responses that show something of another user$/,
    patches: [
      {
        file: 'pulls/reads/cohort-reads.js',
        find: 'texts.get(isShared ? index : null)',
        replace: 'texts.get(isShared ? (index + 1) % cohorts.length : null)',
      },
    ],
  },
];
