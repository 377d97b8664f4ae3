/**
 * Writes `internals/performance.md` and its plots from the record of a run.
 *
 *   npm run bench -- report                            from internals/performance.json
 *   npm run bench -- report bench/results/<time>.json  from another run, whose record becomes internals/performance.json
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { documentsOf } from './report/page.js';
import type { RunRecord } from './report/run-record.js';

const internals = new URL('../internals/', import.meta.url);
const record = new URL('performance.json', internals);
const [path] = process.argv.slice(2);
if (path) copyFileSync(path, record);
const documents = documentsOf(JSON.parse(readFileSync(record, 'utf8')) as RunRecord);
for (const [name, text] of Object.entries(documents)) {
  writeFileSync(new URL(name, internals), text);
  console.log(`internals/${name}`);
}
