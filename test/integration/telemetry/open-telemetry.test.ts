/** The telemetry that an application's OpenTelemetry SDK receives. */
import { context, metrics, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { silent } from '../../support/log.js';
import { views } from '../../support/whole-views.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { mutation, pull, push, send } from '../conformance/wire.js';

const spans = new InMemorySpanExporter();
const exported = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: exported, exportIntervalMillis: 3_600_000 });

let server: TestServer;
beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  server = await startServer();
});
afterAll(async () => {
  await server.close();
  for (const api of [context, propagation, trace, metrics]) api.disable();
});
beforeEach(() => spans.reset());

/** The spans, each with the names of its ancestors. */
function paths(): string[] {
  const all = spans.getFinishedSpans();
  const byID = new Map(all.map((span) => [span.spanContext().spanId, span]));
  const pathOf = (span: (typeof all)[number]): string => {
    const parent = byID.get(span.parentSpanContext?.spanId ?? '');
    return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
  };
  return all.map(pathOf);
}

it('a push has spans for its transaction and for the mutator in it', async () => {
  await push(server, 'ann', [mutation(1, 'list.create', { id: 'l', name: 'a secret' })]);
  expect(paths()).toContain('tidemark.push > tidemark.statement > tidemark.mutator');
  const one = (name: string) => spans.getFinishedSpans().find((span) => span.name === name)!.attributes;
  expect(one('tidemark.push')).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/sync/push',
    'tidemark.request.id': expect.any(String),
  });
  expect(one('tidemark.mutator')).toEqual({ 'tidemark.mutator.name': 'list.create' });
  expect(one('tidemark.statement')).toEqual({ 'db.system.name': 'postgresql', 'db.query.summary': expect.any(String) });
});

it('a pull has spans for its statement and for its poll', async () => {
  await pull(server, 'ann');
  expect(paths()).toContain('tidemark.pull > tidemark.statement');
  const { cookie } = await pull(server, 'ann');
  await server.pool.query(`insert into list (id, owner_id, name) values ('m', 'ann', 'More')`);
  spans.reset();
  await pull(server, 'ann', { cookie });
  expect(paths()).toContain('tidemark.pull > tidemark.poll');
});

it('a call continues the trace of its caller, and its span has the error', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  await send(server, '/api/mutators/list/nothing', {}, { headers: { traceparent } });
  const [span] = spans.getFinishedSpans().filter(({ name }) => name === 'tidemark.call');
  expect(span!.spanContext().traceId).toBe(traceId);
  expect(span!.status.code).toBe(2);
  expect(span!.attributes).toMatchObject({ 'error.type': 'unknown-mutator' });
});

it('code of the server has the spans of a read and of a call in its own trace, without attributes of HTTP', async () => {
  const { pool } = server;
  const sync = await createSync({ database: pool, views, mutators, authenticate, log: silent });
  spans.reset();
  await trace.getTracer('application').startActiveSpan('page', async (page) => {
    const as = sync.as({ userID: 'ann' });
    await as.mutate.list.create({ id: 'o', name: 'a secret' });
    await as.view('list').rows();
    page.end();
  });
  await sync.close();
  expect(paths()).toContain('page > tidemark.call > tidemark.statement > tidemark.mutator');
  expect(paths()).toContain('page > tidemark.read > tidemark.statement');
  const call = spans.getFinishedSpans().find(({ name }) => name === 'tidemark.call')!;
  expect(call.kind).toBe(SpanKind.INTERNAL);
  expect(call.attributes).toEqual({ 'tidemark.request.id': expect.any(String) });
});

it('spans contain no data of users', async () => {
  await push(server, 'ben', [mutation(1, 'list.create', { id: 'n', name: 'a secret' }, 'ben')], { clientGroupID: 'b' });
  await push(server, 'ben', [mutation(2, 'list.create', { id: 'n', name: 'a secret' }, 'ben')], { clientGroupID: 'b' });
  const text = JSON.stringify(
    spans.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
  for (const secret of ['a secret', 'ben', 'insert into']) expect(text).not.toContain(secret);
});

it('metrics are exported, including gauges of the server', async () => {
  await pull(server, 'ann');
  await reader.forceFlush();
  const names = exported
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .filter(({ scope }) => scope.name === 'tidemark')
    .flatMap(({ metrics: all }) => all.map(({ descriptor }) => `${descriptor.name} ${descriptor.unit}`));
  expect(names).toEqual(
    expect.arrayContaining(['tidemark.pull.duration s', 'tidemark.connections 1', 'tidemark.change_log.size By']),
  );
});
