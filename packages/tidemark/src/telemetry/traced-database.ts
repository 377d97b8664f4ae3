import type { Database, Statement } from '../db/database.js';
import type { OpenTelemetry } from './open-telemetry.js';

/** Wraps each statement and transaction of a database in a span. No span contains the text of a statement. */
export function withTracing(db: Database, tracing: OpenTelemetry | undefined): Database {
  if (!tracing) return db;
  const span = <T>(summary: string, work: () => Promise<T>): Promise<T> => {
    const name = summary === pollName ? 'tidemark.poll' : 'tidemark.statement';
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
    return tracing.span(name, 'CLIENT', attributes, work);
  };
  const inSpan =
    (query: Database['query']): Database['query'] =>
    <Row>(statement: Statement) =>
      span(summaryOf(statement), () => query<Row>(statement));
  return {
    ...db,
    query: inSpan(db.query),
    transact: (work, first) => span('transaction', () => db.transact(work, first)),
    inSnapshot: (work) => span('snapshot', () => db.inSnapshot((query) => work(inSpan(query)))),
    async *copy(text, signal) {
      const chunks = db.copy(text, signal)[Symbol.asyncIterator]();
      try {
        // After the first rows, the client determines how long the rest takes.
        let next = await span('copy', () => chunks.next());
        for (; !next.done; next = await chunks.next()) yield next.value;
      } finally {
        await chunks.return?.();
      }
    },
  };
}

/** The name of the statement that polls the change log. */
const pollName = 'tidemark_poll_if_changed';

/** Returns a prepared statement's kind, or the first word of any other statement. */
function summaryOf({ name, text }: Statement): string {
  return name ?? (/^\s*(\w+)/.exec(text)?.[1] ?? 'statement').toLowerCase();
}
