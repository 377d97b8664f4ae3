/**
 * A defect that no mutation tool can introduce, because it is in SQL, in a lock, in a transaction's isolation or in who may
 * do what.
 *
 * It is found by its text alone: words of SQL, Postgres or a library wherever possible, so that a file that moves or a name
 * that changes leaves it alone.
 */
export interface Fault {
  /** What the server does wrong with it, as a sentence. */
  readonly name: string;
  /** Replaced wherever it stands in `src` and `sql`. */
  readonly find: string;
  readonly replace: string;
  /** The test file that detects it: its folder and name, without `.test.ts`. */
  readonly test: string;
}
