/** Well-known faults of the compiled package, each with the line that finds it, and by which of its figures. */

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
  /** The files are below `dist`. */
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
    name: 'a lastMutationID outside of the transaction of its effects',
    line: serversKilled,
    figure: ofMutations,
    patches: compiled(separateLastMutationID),
  },
  {
    name: 'a cursor of transaction IDs in place of the snapshot',
    line: postgresKilled,
    figure: ofData,
    patches: compiled(cursorOfXmax),
  },
  {
    name: 'a cursor in the order of the log in place of the snapshot',
    line: postgresKilled,
    figure: ofData,
    patches: compiled(cursorOfTheLog),
  },
  {
    name: 'a transaction that is not tried again after a conflict',
    line: hotRow,
    figure: /^pushes that were refused$/,
    patches: [
      { file: 'db/transact.js', find: 'FREE_ATTEMPTS = 2', replace: 'FREE_ATTEMPTS = 1' },
      { file: 'db/transact.js', find: 'QUEUED_ATTEMPTS = 18', replace: 'QUEUED_ATTEMPTS = 1' },
    ],
  },
  {
    name: 'a mutation that is applied again when it comes again',
    line: chaosProxy,
    figure: ofMutations,
    patches: compiled(claimOfAny),
  },
  {
    name: 'a temporary file that is kept when its client goes away',
    line: hostileUser,
    figure: /^held by the server/,
    patches: [{ file: 'http/sending/read-ahead.js', find: 'await this.#store?.close();', replace: '' }],
  },
  {
    name: 'a statement for many users that mixes them up',
    line: twoUsers,
    figure: /^responses that show something of another user$/,
    patches: [
      {
        file: 'pulls/seated-reads.js',
        find: 'texts.get(isShared ? place : null)',
        replace: 'texts.get(isShared ? (place + 1) % tables.length : null)',
      },
    ],
  },
];
