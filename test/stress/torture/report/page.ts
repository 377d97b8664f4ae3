/** Makes the page from the records. */
import { cellsOf } from '../../../../bench/report/cells.js';
import type { Line } from '../line.js';
import { hasPassed, type LineRecord } from './record.js';

/** internals/reliability.md. It depends only on the records and the list of lines. */
export function pageOf(records: readonly LineRecord[], lines: readonly Line[]): string {
  return `<!-- Made by \`npm run stress -- torture\` from reliability.json. Changes by hand are lost. -->

# Reliability

How we tried to break Tidemark, and the results. \`npm run stress -- torture <line>\` runs a line. It starts servers of the
built package in separate processes, a real Postgres that it really kills, and real Replicache clients, unless the line
names other clients. CI runs a short form of each line with every change.

A client's mutation *n* writes *n* into a row of the client and moves money between two accounts. So each pull shows
whether it is one snapshot: the row must agree with \`lastMutationID\`, and the sum of the accounts must not change. If
a pull fails this check, or a client gets a response that it should never get, that counts as an *objection*. At the
end, the test reads from the database which mutations have run and how often, and compares each client with a full read.

| Line | What happens | Passes if | Result | Run |
|---|---|---|---|---|
${lines
  .map((line) =>
    rowOf(
      line,
      records.find((record) => record.line === line.line),
    ),
  )
  .join('\n')}

${records.map(sectionOf).join('\n\n')}
`;
}

function rowOf(line: Line, record: LineRecord | undefined): string {
  if (!record) return `| ${line.line} | ${line.title} | ${line.pass} | not run yet | |`;
  const { title, pass, at, commit } = record;
  const link = `[${record.line}](#${anchorOf(record)})`;
  return `| ${link} | ${title} | ${pass} | **${verdictOf(record)}** | ${at.slice(0, 10)}, \`${commit}\` |`;
}

function sectionOf(record: LineRecord): string {
  const { seconds, seed, machine, node, results, charts } = record;
  const rows = results.map((result) => {
    const { name, value, goal, met, remarks } = cellsOf(result);
    return `| ${name} | ${result.unit === '' ? Math.round(result.value) : value} | ${goal} | ${met} | ${remarks} |`;
  });
  return `## ${headingOf(record)}

${Math.ceil(seconds / 60)} minutes, seed ${seed}, on ${machine.cpus} × ${machine.model}, ${Math.round(machine.memoryMB / 1024)} GB, ${machine.platform}, Node ${node}.

| Measured | Value | Goal | Met | |
|---|--:|---|---|---|
${rows.join('\n')}${charts.map((name) => `\n\n![${record.title}](${name})`).join('')}`;
}

function verdictOf(record: LineRecord): string {
  return hasPassed(record) ? 'passed' : 'failed';
}

function headingOf({ line }: LineRecord): string {
  return /^\d/.test(line) ? `Line ${line}` : line;
}

function anchorOf(record: LineRecord): string {
  return headingOf(record).toLowerCase().replace(' ', '-');
}
