/** Lists every scenario, in the order in which they run. */
import type { Scenario } from '../scenario.js';
import { coldStart } from './cold-start.js';
import { eventLoop } from './event-loop.js';
import { everydayBulk } from './everyday/bulk.js';
import { everydayCommits } from './everyday/commits.js';
import { everyday } from './everyday/one-change.js';
import { everydayUsers } from './everyday/users.js';
import { pokes } from './pokes.js';
import { awayFromForeignWrites } from './pulls/away.js';
import { herd, manyRows, oneRow } from './pulls/changes.js';
import { crowd } from './pulls/crowd.js';
import { firstPull } from './pulls/first-pull.js';
import { noChange } from './pulls/no-change.js';
import { sharing } from './pulls/sharing.js';
import { manyTenants } from './pulls/tenants.js';
import { views } from './pulls/views.js';
import { wants } from './pulls/wants.js';
import { workers } from './pulls/workers.js';
import { capture } from './writes/capture.js';
import { push } from './writes/push.js';
import { rest } from './writes/rest.js';

type Scenarios = Readonly<Record<string, { readonly about: string; readonly run: Scenario }>>;

/** First pulls run first, so that the server's peak memory is theirs alone. */
export const scenarios: Scenarios = {
  'first-pull': {
    about: 'The first pull of a client, compared with a COPY of the same JSON through node:http, and compressed.',
    run: firstPull,
  },
  'no-change': { about: 'A pull that finds no changes, like most pulls.', run: noChange },
  'one-row': { about: 'A pull after one row of the view has changed, for views of several sizes.', run: oneRow },
  'many-rows': { about: 'A pull after many rows of the view have changed.', run: manyRows },
  herd: {
    about: 'Clients of one user with a large view, which all pull at the same time after one change.',
    run: herd,
  },
  sharing: {
    about:
      'Users who see the same list among others and pull at the same time after one change in it; and clients of one user.',
    run: sharing,
  },
  everyday: {
    about: 'A pull after one change, for views with outer joins, counts, NOT EXISTS and the like, and for a plain one.',
    run: everyday,
  },
  'everyday-bulk': {
    about: 'A pull after one statement that changes many rows, compared with fetching all rows again.',
    run: everydayBulk,
  },
  'everyday-users': {
    about: 'A thousand users who see the same issues through such a view and pull at the same time after one change.',
    run: everydayUsers,
  },
  views: { about: 'Thirty views, each of its own table, compared with two.', run: views },
  tenants: { about: 'One of a thousand tenants in a database, while the others write.', run: manyTenants },
  away: {
    about: 'A client that returns after many writes to the tables of its views, none of which affects it.',
    run: awayFromForeignWrites,
  },
  crowd: { about: 'Many large first pulls at the same time, with a push and a small pull every 50 ms.', run: crowd },
  push: {
    about: "Pushes, compared with the mutators' statements and the client's record in plain transactions.",
    run: push,
  },
  rest: { about: 'REST calls, compared with a hand-written route, and with the statements alone.', run: rest },
  capture: {
    about: 'Writes to a table whose changes are captured, compared with the same writes without capture.',
    run: capture,
  },
  'event-loop': {
    about:
      'The longest turn of the event loop in several runs of a request. The server answers nothing else during a turn.',
    run: eventLoop,
  },
  pokes: { about: 'From a commit outside the server to the clients that it affects.', run: pokes },
  'cold-start': { about: 'From the start of a process to its first response.', run: coldStart },
};

/**
 * Runs only by name, because it takes long, because its numbers mean more on a machine with more cores, or because few
 * applications need them.
 */
export const onDemand: Scenarios = {
  wants: {
    about: 'Clients that want instances of a view with arguments, compared with clients of a view without.',
    run: wants,
  },
  'everyday-commits': {
    about: 'From a commit outside the server to the rows of a client of such a view, for single writes after a pause.',
    run: everydayCommits,
  },
  workers: {
    about: 'A pull that finds no changes, of `tidemark serve` with one worker and with two.',
    run: workers,
  },
};
