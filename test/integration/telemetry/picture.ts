/** Draws the docs' picture of a trace from a real pull: node --import tsx test/integration/telemetry/picture.ts */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import pg from 'pg';
import { style } from '../../../bench/report/plot.js';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { startEmbedded } from '../../../packages/embedded-postgres/src/start.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { silent } from '../../support/log.js';
import { views } from '../../support/whole-views.js';
import { pullBody } from '../conformance/wire.js';

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));

const [width, row, left, right] = [760, 30, 250, 90];

/** Converts a time to milliseconds. */
const at = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1e3 + nanoseconds / 1e6;

/** Draws a bar for each span, below the spans that began earlier. */
function draw(spans: readonly ReadableSpan[]): string {
  const start = Math.min(...spans.map(({ startTime }) => at(startTime)));
  const scale = (width - left - right) / Math.max(...spans.map(({ endTime }) => at(endTime) - start));
  const bars = spans.map(({ name, startTime, endTime, attributes, parentSpanContext }, i) => {
    const [from, to] = [at(startTime) - start, at(endTime) - start];
    const summary = attributes['db.query.summary'];
    const y = 50 + i * row;
    const label = summary === undefined ? name : `${name}: ${summary}`;
    const x = left + from * scale;
    const end = Math.max(2, (to - from) * scale);
    return `<text x="${parentSpanContext ? 28 : 12}" y="${y + 14}">${label}</text>
<rect x="${x.toFixed(1)}" y="${y}" width="${end.toFixed(1)}" height="18" rx="3" fill="var(--c${parentSpanContext ? 1 : 0})"/>
<text x="${(x + end + 6).toFixed(1)}" y="${y + 14}">${(to - from).toFixed(1)} ms</text>`;
  });
  const height = 64 + spans.length * row;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A trace of a pull">
<style>${style}
</style>
<rect width="${width}" height="${height}" fill="var(--paper)"/>
<text class="title" x="12" y="28">A pull that brings a thousand rows, just after they were written</text>
${bars.join('\n')}
</svg>
`;
}

const directory = mkdtempSync(join(tmpdir(), 'tidemark-picture-'));
const embedded = await startEmbedded({ directory, log: silent });
const pool = new pg.Pool({ connectionString: embedded.url });
await createSchema(pool);
await migrate({ database: embedded.url, views, log: silent });
const sync = await createSync({ database: embedded.url, views, authenticate, log: silent });

async function pull(cookie: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ann' };
  const body = JSON.stringify(pullBody({ cookie }));
  const response = await sync.fetch(new Request('http://localhost/sync/pull', { method: 'POST', headers, body }));
  return ((await response.json()) as { cookie: unknown }).cookie;
}

try {
  await pool.query(`insert into list (id, owner_id, name) values ('l', 'ann', 'Groceries')`);
  await pool.query(
    `insert into todo (id, list_id, title, sort) select n, 'l', 'Milk', n from generate_series(1, 1000) n`,
  );
  let cookie = await pull(null);
  // Warms up plans, connections and compiled code, as in a server that has run for a while.
  for (let i = 0; i < 20; i++) {
    await pool.query(`update todo set title = $1`, [`Milk ${i}`]);
    exporter.reset();
    cookie = await pull(cookie);
  }
  const isRoot = ({ name }: ReadableSpan) => name === 'tidemark.pull';
  const spans = exporter
    .getFinishedSpans()
    .toSorted((a, b) => Number(isRoot(b)) - Number(isRoot(a)) || at(a.startTime) - at(b.startTime));
  const root = spans.find(isRoot)!;
  const own = spans.filter((span) => span.spanContext().traceId === root.spanContext().traceId);
  writeFileSync(new URL('../../../docs/trace.svg', import.meta.url), draw(own));
  console.log('Written to docs/trace.svg');
} finally {
  await sync.close();
  await pool.end();
  await embedded.stop();
  rmSync(directory, { recursive: true, force: true });
}
