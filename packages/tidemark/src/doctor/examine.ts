/** Examines a database and the configured views. */
import { readSizes } from '../catalog/table-sizes.js';
import type { Config } from '../config.js';
import type { Database } from '../db/database.js';
import { type CollectedStatus, collect } from './collect-status.js';
import { type Finding, finding, type Severity } from './finding.js';
import { judgeHolders, readHolders } from './horizon.js';
import { checkLogGrowth } from './log-growth.js';
import { readServer } from './log-status.js';
import { explainViews } from './plans.js';
import { checkExcess, checkTableRights, missingRight, readMissingPrivileges } from './rights.js';
import { judgePlans, judgeSizes } from './scans.js';
import { checkSettings } from './settings.js';

/** The output of `tidemark doctor --json`. */
export interface DoctorReport {
  /** The most severe first. */
  readonly findings: readonly Finding[];
  readonly summary: { readonly errors: number; readonly warnings: number; readonly infos: number };
}

const severities: readonly Severity[] = ['error', 'warning', 'info'];

/**
 * Looks for current and future problems. Changes nothing.
 * @param isEmbedded true for the embedded database, whose only role is a superuser
 */
export async function examine(db: Database, config: Config, isEmbedded: boolean): Promise<DoctorReport> {
  const { role } = await readServer(db);
  const settings = await checkSettings(db, role);
  const missingPrivileges = await readMissingPrivileges(db);
  const rights = missingPrivileges.map((privilege) => missingRight(role, privilege));
  // The remaining checks read Tidemark's tables.
  if (missingPrivileges.some((privilege) => /^(usage|select) /.test(privilege))) {
    return reportOf([...settings, ...rights]);
  }
  const collected = await collect(db, config);
  const excess = isEmbedded ? [] : await checkExcess(db, role);
  const isStandby = settings.some(({ code }) => code === 'standby');
  return reportOf([
    ...settings,
    ...rights,
    ...excess,
    ...collected.findings,
    ...(await checkTableRights(db, role, [...collected.tables.values()])),
    ...comparedViews(collected),
    ...(isStandby ? [] : judgeHolders(await readHolders(db))),
    ...(collected.status.log && !isStandby ? await checkLogGrowth(db, config) : []),
    ...(await checkPlans(db, collected)),
  ]);
}

function comparedViews({ status }: CollectedStatus): Finding[] {
  return status.views.flatMap(({ name, strategy, reason, changes = [] }) => {
    const whole = changes.filter(({ cost }) => cost === 'whole view').map(({ table }) => table);
    if (whole.length === 0) return [];
    const what =
      strategy === 'compare'
        ? `The view "${name}" is compared rather than followed: ${reason}.`
        : `The view "${name}" is compared after a change of ${whole.join(', ')}: no condition tells which of its rows depend on that.`;
    return [finding('view-compared', { subject: name, what, advice: 'Keep it small, or write it without this.' })];
  });
}

async function checkPlans(db: Database, { resolved }: CollectedStatus): Promise<Finding[]> {
  if (!resolved) return [];
  const { tables } = resolved.schema;
  const sizes = await readSizes(db, tables);
  const plans = await explainViews(db, resolved);
  return [...plans.flatMap((plan) => judgePlans(plan, tables, sizes)), ...judgeSizes(sizes)];
}

function reportOf(findings: readonly Finding[]): DoctorReport {
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  return {
    findings: severities.flatMap((severity) => findings.filter((one) => one.severity === severity)),
    summary: { errors: count('error'), warnings: count('warning'), infos: count('info') },
  };
}
