/** The page that is made of the records. */
import { cellsOf } from '../../../../bench/report/cells.js';
import type { Line } from '../line.js';
import { hasPassed, type LineRecord } from './record.js';

/** docs/reliability.md. It depends on the records and the list of lines alone. */
export function pageOf(records: readonly LineRecord[], lines: readonly Line[]): string {
  return `<!-- Made by \`npm run stress -- torture\` from reliability.json. Changes by hand are lost. -->

# Reliability

What was done to Tidemark, and what held. Each line was run by \`npm run stress -- torture <line>\`: against servers of the built
package in processes of their own, a real Postgres that is really killed, and real Replicache clients, unless the line
says that they are others. A short form of each is run with every change.

A client's mutation *n* writes *n* into a row of the client and moves money between two accounts. So each pull shows by
itself whether it is one snapshot: the row must say what \`lastMutationID\` says, and the accounts must sum up to what they
always did. A pull that does not is an *objection*, and so is a response that no client should get. At the end, the
database is asked which mutations have run and how often, and each client is compared with a full read.

| Line | What is done | Passes if | Result | Run |
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
