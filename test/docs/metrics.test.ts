/** Verifies that the documentation lists every metric with its help text. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  counters,
  gauges,
  histograms,
  type Instrument,
  prometheusName,
} from '../../packages/tidemark/src/telemetry/instruments.js';

const page = readFileSync(new URL('../../docs/operations/monitoring.md', import.meta.url), 'utf8');

it('docs/operations/monitoring.md lists exactly the metrics of a server', () => {
  const rowOf = (name: string, { description, attributes = [] }: Instrument) => {
    const help = `${description.slice(0, 1).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
    return `| \`${name}\` | ${help} | ${attributes.map((one) => `\`${one}\``).join(', ')} |`;
  };
  const rows = [
    ...Object.entries(histograms).map(([name, one]) => rowOf(prometheusName(name, one), one)),
    ...Object.entries(counters).map(([name, one]) => rowOf(`${prometheusName(name, one)}_total`, one)),
    ...Object.entries(gauges).map(([name, one]) => rowOf(prometheusName(name, one), one)),
  ];
  const listed = page.split('\n').filter((line) => line.startsWith('| `tidemark_'));
  expect(listed.map((row) => row.replace(/ +\|$/, ' |')).toSorted()).toEqual(
    rows.map((row) => row.replace(/ +\|$/, ' |')).toSorted(),
  );
});
