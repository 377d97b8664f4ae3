/** The replacement for a statement that begins or ends a nested transaction. */
export interface Step {
  readonly text: string;
  /** Sent after `text` has succeeded. */
  readonly followUp?: string;
  /** Called if `text` fails. */
  readonly failed?: () => void;
}

/** The open transactions that a mutator has begun within its own. Each is a savepoint. */
export class NestedTransactions {
  /** The names of the savepoints, the innermost last. */
  #open: readonly string[] = [];
  #begun = 0;

  get areOpen(): boolean {
    return this.#open.length > 0;
  }

  begin(): Step {
    const name = `tidemark_nested_${++this.#begun}`;
    this.#open = [...this.#open, name];
    return {
      text: `savepoint ${name}`,
      failed: () => {
        this.#open = this.#open.filter((open) => open !== name);
      },
    };
  }

  /** Commits the innermost transaction; undefined if there is none. If that fails, it stays open for a rollback. */
  commit(): Step | undefined {
    const name = this.#end();
    if (name === undefined) return undefined;
    return {
      text: `release savepoint ${name}`,
      failed: () => {
        this.#open = [...this.#open, name];
      },
    };
  }

  /** Rolls back the innermost transaction; undefined if there is none. */
  rollback(): Step | undefined {
    const name = this.#end();
    if (name === undefined) return undefined;
    return { text: `rollback to savepoint ${name}`, followUp: `release savepoint ${name}` };
  }

  #end(): string | undefined {
    const name = this.#open.at(-1);
    this.#open = this.#open.slice(0, -1);
    return name;
  }
}
