/** A database that a test looks over, and holds up where it likes. */
import type { Database, Statement } from '../../../src/db/database.js';

export interface Watched {
  /**
   * A look that all share, a probe for one base, a question about the size of a delta, a delta by a prepared statement,
   * or whatever comes by COPY.
   */
  readonly kind: 'look' | 'probe' | 'size' | 'delta' | 'copy';
  /** The statement with its values: all that it says of its members. */
  readonly text: string;
}

type Hook = (statement: Watched) => Promise<void> | void;

export class WatchedDatabase {
  readonly statements: Watched[] = [];
  /** Called before a statement begins. */
  before: Hook = () => {};
  /** Called when a statement has read all, before its answer is passed on. */
  after: Hook = () => {};

  /** The statements of pulls alone pass here: the installation is read beside. */
  readonly watch = (db: Database): Database => ({
    ...db,
    query: <Row>(statement: Statement) => this.#query<Row>(db, statement),
    copy: (text) => this.#copy(db, text),
  });

  /** The kinds of the statements since the last call. */
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

  #see(statement: Watched): Watched {
    this.statements.push(statement);
    return statement;
  }
}

function kindOf({ name }: Statement): Watched['kind'] {
  if (name === undefined) return 'size';
  if (name === 'tidemark_news') return 'look';
  return name === 'tidemark_look' ? 'probe' : 'delta';
}

/** A promise that a test resolves. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
