/**
 * Writes `docs/scale.md` and its plots from the record of a run.
 *
 *   npm run bench -- scale-report                            from docs/scale.json
 *   npm run bench -- scale-report bench/results/<file>.json  from another run, whose record becomes docs/scale.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { textOf } from '../../report/run-record.js';
import { scaleDocumentsOf } from './page.js';
import type { ScaleRecord } from './scale-record.js';

const docs = new URL('../../../docs/', import.meta.url);

export function publish(record: ScaleRecord): void {
  for (const [name, text] of Object.entries({ 'scale.json': textOf(record), ...scaleDocumentsOf(record) })) {
    writeFileSync(new URL(name, docs), text);
    console.log(`docs/${name}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = process.argv[2] ?? new URL('scale.json', docs);
  publish(JSON.parse(readFileSync(path, 'utf8')) as ScaleRecord);
}
