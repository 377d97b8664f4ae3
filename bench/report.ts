import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result } from './scenario.js';

const folder = fileURLToPath(new URL('results/', import.meta.url));

export function printTable(results: readonly Result[]): void {
  const rows = results.map((result) => [
    result.name,
    `${digits(result.value)} ${result.unit}`,
    result.limit === undefined ? '' : `${digits(result.limit)} ${result.unit}`,
    result.ratio === undefined ? '' : `${result.ratio.toFixed(2)} ×`,
    result.goal ?? '',
    [result.limitName && `against ${result.limitName}`, result.note].filter(Boolean).join('; '),
  ]);
  const table = [['measured', 'value', 'limit', 'ratio', 'goal', ''], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table) {
    console.log(
      row
        .map((cell, i) => (i >= 1 && i <= 3 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
        .join('  ')
        .trimEnd(),
    );
  }
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** @returns the path of the file written */
export function writeResults(results: readonly Result[], run: object): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const at = new Date().toISOString();
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model,
    memoryMB: Math.round(totalmem() / 2 ** 20),
    platform: `${platform()} ${arch()}`,
    load: loadavg(),
  };
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${at.replace(/[:.]/g, '-')}.json`);
  writeFileSync(
    path,
    `${JSON.stringify({ at, machine, node: process.version, tidemark: version, ...run, results }, null, 2)}\n`,
  );
  return path;
}
