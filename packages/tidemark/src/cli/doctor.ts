import { openPool } from '../db/pg.js';
import { type DoctorReport, examine } from '../doctor/examine.js';
import type { Finding } from '../doctor/finding.js';
import { loadConfig } from './config.js';
import { withExistingDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/**
 * Prints present and foreseeable problems of the database and the views, and how to fix them.
 * @returns the exit code: 1 if there are errors or, with `strict`, warnings
 */
export async function doctorCommand(
  terminal: Terminal,
  options: { readonly config?: string; readonly json?: boolean; readonly strict?: boolean },
): Promise<number> {
  const config = await loadConfig(options.config);
  const report = await withExistingDatabase(terminal, async ({ url, embedded }) => {
    const db = openPool(url);
    try {
      return await examine(db, config, embedded);
    } finally {
      await db.close();
    }
  });
  terminal.print(options.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
  const { errors, warnings } = report.summary;
  return errors > 0 || (options.strict && warnings > 0) ? 1 : 0;
}

function formatReport({ findings, summary }: DoctorReport): string {
  const { errors, warnings, infos } = summary;
  const counts = [count(errors, 'error'), count(warnings, 'warning'), count(infos, 'note')].join(', ');
  const end = findings.length === 0 ? 'Nothing found.' : `Found ${counts}.`;
  return `${[...findings.map(formatFinding), end].join('\n\n')}\n`;
}

function formatFinding({ code, severity, what, why, advice, sql }: Finding): string {
  const lines = [
    `${severity.toUpperCase()}  ${code}`,
    what,
    `Why: ${why}`,
    `Do:  ${advice}`,
    ...(sql === null ? [] : [`SQL: ${sql};`]),
  ];
  // Text from the database must not be able to control the terminal.
  return lines.map((line) => line.replace(/\p{Cc}+/gu, ' ')).join('\n  ');
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
