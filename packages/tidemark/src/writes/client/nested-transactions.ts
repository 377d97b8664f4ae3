/** The replacement for a statement that begins or ends a nested transaction. */
export interface Step {
  readonly kind: 'begin' | 'commit' | 'rollback';
  /** The name of the savepoint. */
  readonly name: string;
  readonly text: string;
  /** Sent after `text` has succeeded. */
  readonly followUp?: string;
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
    return { kind: 'begin', name, text: `savepoint ${name}` };
  }

  /** Commits the innermost transaction; undefined if there is none. If that fails, it stays open for a rollback. */
  commit(): Step | undefined {
    const name = this.#end();
    if (name === undefined) return undefined;
    return { kind: 'commit', name, text: `release savepoint ${name}` };
  }

  /** Rolls back the innermost transaction; undefined if there is none. */
  rollback(): Step | undefined {
    const name = this.#end();
    if (name === undefined) return undefined;
    const followUp = `release savepoint ${name}`;
    return { kind: 'rollback', name, text: `rollback to savepoint ${name}`, followUp };
  }

  /** Records that the `text` of a step has failed. */
  fail({ kind, name }: Step): void {
    if (kind === 'begin') this.#open = this.#open.filter((open) => open !== name);
    if (kind === 'commit') this.#open = [...this.#open, name];
  }

  #end(): string | undefined {
    const name = this.#open.at(-1);
    this.#open = this.#open.slice(0, -1);
    return name;
  }
}
