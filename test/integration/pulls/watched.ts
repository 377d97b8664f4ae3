/** A database whose statements a test can observe and delay. */
import type { Database, Statement } from '../../../packages/tidemark/src/db/database.js';

export interface WatchedStatement {
  /**
   * A poll that all share, a probe for one base, a statement about the size of a delta, a delta by a prepared
   * statement, or any COPY.
   */
  readonly kind: 'poll' | 'probe' | 'size' | 'delta' | 'copy';
  /** The statement with its values, which contain everything about its group requests. */
  readonly text: string;
}

type Hook = (statement: WatchedStatement) => Promise<void> | void;

export class WatchedDatabase {
  readonly statements: WatchedStatement[] = [];
  /** Called before a statement begins. */
  before: Hook = () => {};
  /** Called when a statement has read everything, before its result is passed on. */
  after: Hook = () => {};

  /** Only the statements of pulls pass through here; reads of the schema do not. */
  readonly watch = (db: Database): Database => ({
    ...db,
    query: <Row>(statement: Statement) => this.#query<Row>(db, statement),
    copy: (text) => this.#copy(db, text),
  });

  /** Returns the kinds of the statements since the previous call. */
  take(): string[] {
    return this.statements.splice(0).map(({ kind }) => kind);
  }

  async #query<Row>(db: Database, statement: Statement): Promise<Row[]> {
    const watched = this.#see({ kind: kindOf(statement), text: JSON.stringify(statement) });
    await this.before(watched);
    const rows = await db.query<Row>(statement);
    await this.after(watched);
    return rows;
  }

  async *#copy(db: Database, text: string): AsyncGenerator<Uint8Array> {
    const watched = this.#see({ kind: 'copy', text });
    await this.before(watched);
    yield* db.copy(text);
    await this.after(watched);
  }

  #see(statement: WatchedStatement): WatchedStatement {
    this.statements.push(statement);
    return statement;
  }
}

function kindOf({ name }: Statement): WatchedStatement['kind'] {
  if (name === undefined) return 'size';
  if (name === 'tidemark_poll_if_changed') return 'poll';
  return name === 'tidemark_poll' ? 'probe' : 'delta';
}

/** A promise that a test resolves. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
