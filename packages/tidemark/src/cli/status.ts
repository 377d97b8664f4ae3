import { openPool } from '../db/pg.js';
import type { IndexStatus } from '../doctor/change-status.js';
import { collectStatus, type Status } from '../doctor/collect-status.js';
import { loadConfig } from './config.js';
import { withExistingDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/**
 * Prints the state of the database and the views.
 * @returns the exit code: 1 if there are problems
 */
export async function statusCommand(
  terminal: Terminal,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<number> {
  const config = await loadConfig(options.config);
  const status = await withExistingDatabase(terminal, async ({ url }) => {
    const db = openPool(url);
    try {
      return await collectStatus(db, config);
    } finally {
      await db.close();
    }
  });
  terminal.print(options.json ? `${JSON.stringify(status, null, 2)}\n` : formatStatus(status));
  return status.problems.length > 0 ? 1 : 0;
}

function formatStatus({ postgres, schema, log, views, tables, problems }: Status): string {
  const lines = [
    `Postgres    ${postgres.version}, database ${postgres.database}, as ${postgres.role}`,
    `Schema      ${schema.installed === 0 ? 'not installed' : `version ${schema.installed}`}; this code: ${schema.code}`,
  ];
  if (log) {
    lines.push(
      `Database ID cluster ${log.cluster}, installation ${log.installID}`,
      `Change log  ${sizeOf(log.bytes)}; horizon ${log.horizon}, oldest transaction ${log.oldestXid ?? 'none'}, ` +
        `reaches back to ${log.coveredSince ?? 'the installation'}`,
      `Clients     ${log.clients} in ${count(log.clientGroups, 'client group')}`,
    );
  }
  const shown = views.map(({ name, keys, strategy, partition = [], reason }) => {
    const by = partition.length > 0 ? ` by ${partition.join(', ')}` : '';
    return [name, keys ?? '', `${strategy}${by}`, reason ?? ''];
  });
  lines.push('', 'Views', ...table(shown));
  const changes = views.flatMap(({ name, changes = [] }) =>
    changes.map(({ table, cost, indexes }) => [name, table, cost, indexes.map(indexText).join('; ')]),
  );
  if (changes.length > 0) lines.push('', 'What a change of a table costs a pull', ...table(changes));
  if (tables.length > 0) {
    const cells = tables.map(({ name, read, captured, logRows }) => [
      name,
      captured ? 'captured' : 'NOT CAPTURED',
      count(logRows, 'log row'),
      read ? '' : 'no view reads it',
    ]);
    lines.push('', 'Tables', ...table(cells));
  }
  lines.push(
    '',
    ...(problems.length > 0 ? ['Problems', ...problems.map((problem) => `  ${problem}`)] : ['No problems found.']),
  );
  return `${lines.join('\n')}\n`;
}

function indexText({ table, columns, exists }: IndexStatus): string {
  return `${exists ? 'index' : 'NO INDEX'} on ${table} (${columns.join(', ')})`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')}`.trimEnd());
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1024 ** 2) return `${Math.ceil(bytes / 1024)} kB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
