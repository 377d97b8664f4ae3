/** Makes `internals/scale.md` from the record of a run. */
import { digits } from '../../report/cells.js';
import { headOf } from '../../report/head.js';
import { type Costs, costsOf } from '../measure/costs.js';
import { documents, members } from '../measure/teams.js';
import type { ScaleRecord } from './scale-record.js';

const operations: readonly (readonly [name: keyof Costs, label: string])[] = [
  ['push', 'A push of one mutation'],
  ['walSend', 'Sending its WAL to a standby'],
  ['unchangedPull', 'A pull that finds no changes, without its poll'],
  ['emptyPoll', 'A poll that finds no changes; pulls share it'],
  ['emptyPrimaryPoll', 'A poll of the primary before a read from a standby, finding no changes; pulls share it'],
  ['primaryPoll', 'The same, finding changes'],
  ['deltaPull', 'A pull of one changed row, without its statement'],
  ['deltaStatement', 'The statement of such a pull; pulls share it'],
  ['firstPull', 'A first pull, without its rows'],
  ['firstPullRow', 'Each row of a first pull'],
  ['openStream', 'Opening a stream'],
  ['streamSecond', 'Keeping a stream open, per second'],
  ['poll', 'A poll for pokes that finds a change'],
  ['cohort', 'Finding the affected cohorts, per cohort'],
  ['cohortRow', 'The same, per cohort and changed row'],
  ['poke', 'A poke'],
  ['idleSecond', 'An idle server, per second'],
];

const example = `| Operation | per second | server, µs | Postgres, µs | server, ms/s | Postgres, ms/s |
|---|--:|--:|--:|--:|--:|
| A push of one mutation | 10 | 690 | 490 | 6.9 | 4.9 |
| A poll for pokes that finds a change | 10 | 2000 | 2300 | 20.0 | 23.0 |
| A poll that finds no changes; pulls share it | 150 | 300 | 65 | 45.0 | 9.8 |
| Finding the affected cohorts, per cohort | 500 | 4.9 | 2.4 | 2.5 | 1.2 |
| The same, per cohort and changed row | 500 | 0 | 0.16 | 0.0 | 0.1 |
| A poke | 400 | 18 | 17 | 7.2 | 6.8 |
| A pull of one changed row, without its statement | 400 | 190 | 20 | 76.0 | 8.0 |
| The statement of such a pull; pulls share it | 200 | 2200 | 1000 | 440.0 | 200.0 |
| Keeping a stream open, per second | 2000 | 12 | 0 | 24.0 | 0.0 |
| An idle server, per second | 1 | 3000 | 8000 | 3.0 | 8.0 |
| Sum | | | | 624.6 | 261.8 |`;

const us = (value: number): string => (value === 0 ? '0' : value < 0.1 ? value.toFixed(3) : digits(value));

function costsTable(record: ScaleRecord): string {
  const primary = costsOf(record.primary, record.design);
  const standby = costsOf(record.standby, record.design, primary);
  const rows = operations.map(([name, label]) => {
    const [own, other] = [primary[name], standby[name]];
    const values = [own.server, own.primary, other.server, other.primary, other.standby];
    return `| ${label} | ${values.map(us).join(' | ')} |`;
  });
  return `| µs of processor time | server | Postgres | server, reading from a standby | primary | standby |
|---|--:|--:|--:|--:|--:|
${rows.join('\n')}`;
}

/** The page depends on the record alone. */
export function scalePageOf(record: ScaleRecord): string {
  return `<!-- Made by \`npm run bench -- scale-report\` from scale.json. Changes by hand are lost. -->

# Scale

The processor time of each operation, to estimate how many processors a workload needs.
[Performance](performance.md) shows how long operations take.

${headOf(record)}

## Costs

In microseconds of processor time, of the server's process and of all processes of Postgres. The first two columns are
for a server that reads from the primary, the last three for one that reads from a standby. A *cohort* is all
subscribers whose views have equal parameters.

${costsTable(record)}

## Measurement

\`npm run bench -- scale${record.isQuick ? ' --quick' : ''}\` repeats one operation many times in each phase, and reads the processor time of each process
from Linux before and after. A cost is a difference between phases, divided by the number of operations. For example,
the cost of a poke follows from a phase whose writes poke one client, and one whose writes poke ${members}. An idle server's
time is subtracted. \`pg_stat_statements\` counts polls and shared statements. A cost too small to measure is 0.

A document has about 150 bytes, a team has ${members} members, and each member sees the ${documents} documents of the team. A push changes
one document. Server, Postgres and clients share the machine. A server that reads from a standby polls the primary at
most once in 10 ms. That is too rare to measure what a poll costs the server, so this cost comes from the first column.

## Estimate processors

Multiply each cost by its number of operations per second, and add up. For example, 2,000 clients are online, in 50
teams of 40. They push 10 mutations per second, each of which the 40 clients of a team see. A team's clients have equal
parameters, so there are 50 cohorts. One server reads from the primary. The costs are rounded to two digits:

${example}

The server needs 0.62 of a processor, and Postgres 0.26. To leave room for bursts, such as reconnecting clients, do not
plan to use more than about 60 % of a processor. So run two servers here.

- **Polls.** While clients write this often, a server polls about every 6 ms. A quiet server polls five times a second.
- **Shared statements.** Pulls with equal cookies that arrive while a statement runs share the next one. The example
  assumes that two pulls share one.
- **Several servers.** Each server polls, and checks every write for all of its cohorts. So all servers together check
  cohorts × changed rows, which grows with the square of the number of clients if each has its own parameters. Give
  views equal parameters, such as a tenant's, and let a proxy send a tenant's clients to the same server.
- **Standbys** take over the reads. Each push then costs the primary its own time, plus that of sending its WAL to each
  standby.
- **Rare operations.** Opening streams and first pulls hardly matter here: a server ends a stream after an hour.

The costs do not include TLS and proxies, disks, waiting for locks, larger rows, views that are compared rather than
[incremental](../docs/views.md), and mutators that do more than change one row.
`;
}
