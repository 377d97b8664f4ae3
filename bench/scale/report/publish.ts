/**
 * Writes `internals/scale.md` from the record of a run.
 *
 *   npm run bench -- scale-report                            from internals/scale.json
 *   npm run bench -- scale-report bench/results/<file>.json  from another run, whose record becomes internals/scale.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { textOf } from '../../report/run-record.js';
import { scalePageOf } from './page.js';
import type { ScaleRecord } from './scale-record.js';

const internals = new URL('../../../internals/', import.meta.url);

export function publish(record: ScaleRecord): void {
  for (const [name, text] of Object.entries({ 'scale.json': textOf(record), 'scale.md': scalePageOf(record) })) {
    writeFileSync(new URL(name, internals), text);
    console.log(`internals/${name}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = process.argv[2] ?? new URL('scale.json', internals);
  publish(JSON.parse(readFileSync(path, 'utf8')) as ScaleRecord);
}
