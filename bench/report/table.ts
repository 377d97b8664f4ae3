/** The table that a run prints. */
import type { Result } from '../scenario.js';
import { cellsOf } from './cells.js';

export function printTable(results: readonly Result[]): void {
  const rows = results.map((result) => {
    const { name, value, limit, ratio, goal, met, remarks } = cellsOf(result);
    return [name, value, limit, ratio, goal, met, remarks];
  });
  const table = [['measured', 'value', 'limit', 'ratio', 'goal', 'met', ''], ...rows];
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
