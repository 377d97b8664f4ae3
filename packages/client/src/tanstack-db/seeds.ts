/**
 * The rows that a server has rendered, and that a `DbClient` of TanStack DB has put into a collection before it syncs. In
 * each instance of the view, they replace the client's rows until the server has answered the client.
 */
export class Seeds {
  readonly #args: readonly string[];
  /** The keys of the rows, by their instance. */
  readonly #keys = new Map<string, string[]>();

  /** @param args the names of the view's arguments, which are also those of fields */
  constructor(rows: Iterable<readonly [key: string, row: object]>, args: readonly string[]) {
    this.#args = args;
    for (const [key, row] of rows) {
      const instance = this.instanceOf(row);
      this.#keys.set(instance, [...(this.#keys.get(instance) ?? []), key]);
    }
  }

  /** The instances that still have their seeds. */
  get instances(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Returns a text that identifies the instance of a row, or that of arguments. The server may send a number as text. */
  instanceOf(row: object): string {
    return JSON.stringify(this.#args.map((arg) => String((row as Record<string, unknown>)[arg])));
  }

  /** True if seeds replace a row. */
  replace(row: object): boolean {
    return this.#keys.size > 0 && this.#keys.has(this.instanceOf(row));
  }

  /** Ends the seeds of an instance. Returns their keys. */
  end(instance: string): readonly string[] {
    const keys = this.#keys.get(instance) ?? [];
    this.#keys.delete(instance);
    return keys;
  }
}
