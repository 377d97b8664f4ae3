/** The dashboard in packages/tidemark/ops/grafana.json: whether each panel can show something. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { unknownMetrics } from './metric-names.js';

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const text = readFileSync(new URL('../../packages/tidemark/ops/grafana.json', import.meta.url), 'utf8');
const { panels, templating } = JSON.parse(text) as Dashboard;
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const variables = templating.list.map(({ name }) => name);

it('the dashboard shows only existing metrics', () => {
  expect(expressions.length).toBeGreaterThan(20);
  expect([...expressions, ...templating.list.map(({ query }) => query)].flatMap(unknownMetrics)).toEqual([]);
});

it('the dashboard queries only the selected job and servers, with variables that it defines', () => {
  expect(expressions.filter((one) => !one.includes('{job="$job", instance=~"$instance"'))).toEqual([]);
  const used = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name!);
  expect(used.filter((name) => name !== '__rate_interval' && !variables.includes(name))).toEqual([]);
});

it('the panels have unique IDs and do not overlap', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const squares = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(squares).size).toBe(squares.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

it.runIf(!promtoolIsMissing)('Prometheus accepts every expression of the dashboard', () => {
  const rules = expressions.map((expr, i) => ({
    record: `panel:expression:${i}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'tidemark').replaceAll('$instance', '.*'),
  }));
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-dashboard-'));
  try {
    const file = join(folder, 'rules.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(promtool(['check', 'rules', file])).toContain(`${rules.length} rules found`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
