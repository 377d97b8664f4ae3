/** Makes the documents of a run: a page, and the plots beside it. */
import { isMet } from '../goal.js';
import { type Result, short } from '../scenario.js';
import { cellsOf } from './cells.js';
import { headOf } from './head.js';
import { type Curve, drawPlot, type Plot } from './plot.js';
import type { RunRecord, ScenarioRecord } from './run-record.js';

/** The maximum length of a line in a plan. Some contain long lists of constants. */
const planWidth = 140;

/** The documents of a run, by their names in `internals/`. They depend on the record alone. */
export function documentsOf(run: RunRecord): Record<string, string> {
  const results = run.scenarios.flatMap((scenario) => scenario.results);
  return {
    'performance.md': pageOf(run, results),
    'performance-rows.svg': drawPlot(
      plotOf(results, 'rows', 'Duration of a pull by rows in the view', 'rows that the user sees'),
    ),
    'performance-users.svg': drawPlot(
      plotOf(
        results,
        'users',
        'Time until all clients have pulled after one change',
        'clients that pull at the same time',
      ),
    ),
  };
}

function plotOf(results: readonly Result[], plot: 'rows' | 'users', title: string, xTitle: string): Plot {
  const curves = new Map<string, { x: number; y: number }[]>();
  for (const { point, value } of results) {
    if (point?.plot !== plot) continue;
    const points = curves.get(point.curve) ?? [];
    curves.set(point.curve, points);
    points.push({ x: point.x, y: value });
  }
  const sorted = [...curves].map(([name, points]): Curve => ({ name, points: points.toSorted((a, b) => a.x - b.x) }));
  return { title, xTitle, yTitle: 'milliseconds', curves: sorted, xLabel: short };
}

function pageOf(run: RunRecord, results: readonly Result[]): string {
  return `<!-- Made by \`npm run bench -- report\` from performance.json. Changes by hand are lost. -->

# Performance

Measured in one run of \`npm run bench${run.scale === 'usual' ? '' : ` -- --${run.scale}`}\`. Server, Postgres and clients shared one machine
and communicated over its loopback interface.

${headOf(run)}

- A value is the median of its samples, unless its name says otherwise.
- A limit is what the value is compared with. The same run measures both in turns, so that noise affects both alike. The
  ratio is value divided by limit; where the table says "times as fast", it is limit divided by value.
- A goal is a bound on the value or, with ×, on the ratio.

${verdictOf(results)}

[Where the time goes](where-the-time-goes.md) explains what limits the rest, and what we tried.

![Time by rows](performance-rows.svg)

![Time by clients](performance-users.svg)

${run.scenarios.map(sectionOf).join('\n\n')}

## Plans

How Postgres runs the statements behind pulls (\`EXPLAIN\`), on the database of this run. Long lines are truncated.

${run.plans.map(({ name, lines }) => `### ${name}\n\n\`\`\`\n${lines.map(cut).join('\n')}\n\`\`\``).join('\n\n')}
`;
}

function sectionOf({ name, about, results }: ScenarioRecord): string {
  const rows = results.map((result) => {
    const cells = cellsOf(result);
    const { value, limit, ratio, goal, met, remarks } = cells;
    return `| ${cells.name} | ${value} | ${limit} | ${ratio} | ${goal} | ${met} | ${remarks} |`;
  });
  return `## ${name}

${about}

| Measured | Value | Limit | Ratio | Goal | Met | |
|---|--:|--:|--:|---|---|---|
${rows.join('\n')}`;
}

/** Returns the number of goals that are met, and a line for each that is missed. */
function verdictOf(results: readonly Result[]): string {
  const judged = results.filter((result) => isMet(result) !== undefined);
  const missed = judged.filter((result) => !isMet(result));
  const verdict = `**${judged.length - missed.length} of ${judged.length} goals are met.**`;
  if (missed.length === 0) return verdict;
  const lines = missed.map(cellsOf).map(({ name, value, ratio, goal }) => {
    const reached = [value, ratio].filter(Boolean).join(', ');
    return `- ${name}: ${reached} (${goal})`;
  });
  return `${verdict} Those that are missed:\n\n${lines.join('\n')}`;
}

function cut(line: string): string {
  return line.length <= planWidth ? line : `${line.slice(0, planWidth - 1)}…`;
}
