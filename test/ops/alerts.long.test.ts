/** The alerts of packages/tidemark/ops/alerts.yml. What each fires on is in alerts.test.yml, which promtool runs. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { unknownMetrics } from './metric-names.js';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

interface AlertTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(pathOf(path), 'utf8');

const file = 'packages/tidemark/ops/alerts.yml';
const { groups } = parse(read(file)) as { groups: readonly { readonly rules: readonly Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const { tests } = parse(read('test/ops/alerts.test.yml')) as { tests: readonly AlertTest[] };
const cases = tests.flatMap((one) => one.alert_rule_test);
const runbook = read('docs/operations/runbook.md');

it.runIf(!promtoolIsMissing)('Prometheus accepts the alerts', () => {
  expect(promtool(['check', 'rules', pathOf(file)])).toContain(`${alerts.length} rules found`);
});

it.runIf(!promtoolIsMissing)('the alerts fire only under their conditions', () => {
  expect(promtool(['test', 'rules', pathOf('test/ops/alerts.test.yml')])).toContain('SUCCESS');
});

it('the runbook has exactly one section for each alert', () => {
  const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(alerts.map(({ alert }) => alert));
});

describe.each(alerts)('$alert', ({ alert, expr, labels, annotations }) => {
  it('has a severity, a summary, a description and a link to the runbook', () => {
    expect(labels.severity).toMatch(/^(critical|warning)$/);
    expect(annotations).toEqual({
      summary: expect.stringMatching(/^[A-Z].*[^.]$/),
      description: expect.stringMatching(/\.$/),
      runbook_url: `docs/operations/runbook.md#${alert.toLowerCase()}`,
    });
  });

  it('uses only existing metrics', () => {
    expect(unknownMetrics(expr)).toEqual([]);
  });

  it('has a test in which it fires, and one in which it does not', () => {
    const fires = cases.filter(({ alertname }) => alertname === alert).map(({ exp_alerts }) => exp_alerts.length > 0);
    expect(new Set(fires)).toEqual(new Set([true, false]));
  });
});
