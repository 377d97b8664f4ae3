/** What is sent in place of a statement that begins or ends a nested transaction. */
export interface Step {
  readonly text: string;
  /** To be sent when that has succeeded. */
  readonly further?: string;
  /** To be called if it fails. */
  readonly failed?: () => void;
}

/** The transactions that a mutator has begun within its own and has not ended. Each is a savepoint. */
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

  /** Ends the innermost one. Undefined if there is none. If a statement in it has failed, it stays, to be rolled back. */
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

  /** Ends the innermost one. Undefined if there is none. */
  rollback(): Step | undefined {
    const name = this.#end();
    if (name === undefined) return undefined;
    return { text: `rollback to savepoint ${name}`, further: `release savepoint ${name}` };
  }

  #end(): string | undefined {
    const name = this.#open.at(-1);
    this.#open = this.#open.slice(0, -1);
    return name;
  }
}
