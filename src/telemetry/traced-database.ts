import type { Database, Statement } from '../db/database.js';
import type { OpenTelemetry } from './open-telemetry.js';

/** The same database, with a span around each statement and transaction. Statements' texts are in none of them. */
export function traced(db: Database, tracing: OpenTelemetry | undefined): Database {
  if (!tracing) return db;
  const span = <T>(summary: string, work: () => Promise<T>): Promise<T> => {
    const name = summary === lookName ? 'tidemark.look' : 'tidemark.statement';
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
    atOneMoment: (work) => span('snapshot', () => db.atOneMoment((query) => work(inSpan(query)))),
    async *copy(text, signal) {
      const chunks = db.copy(text, signal)[Symbol.asyncIterator]();
      try {
        // What comes after the first rows takes as long as the client lets it take.
        let next = await span('copy', () => chunks.next());
        for (; !next.done; next = await chunks.next()) yield next.value;
      } finally {
        await chunks.return?.();
      }
    },
  };
}

/** The name of the statement that looks for changes. */
const lookName = 'tidemark_news';

/** A prepared statement's kind, or the first word of another. */
function summaryOf({ name, text }: Statement): string {
  return name ?? (/^\s*(\w+)/.exec(text)?.[1] ?? 'statement').toLowerCase();
}
