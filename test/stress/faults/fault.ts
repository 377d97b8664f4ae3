/**
 * A defect that no mutation tool can introduce, because it is in SQL, in a lock, in a transaction's isolation or in
 * permissions.
 *
 * Only its text identifies it, preferably words of SQL, Postgres or a library. So moved files and renamed identifiers
 * do not affect it.
 */
export interface Fault {
  /** A sentence that says what the server does wrong with it. */
  readonly name: string;
  /** The text to replace, at every occurrence in the packages' sources and in `sql`. */
  readonly find: string;
  readonly replace: string;
  /** The folder and name of the test file that detects it, without `.test.ts`. */
  readonly test: string;
}
