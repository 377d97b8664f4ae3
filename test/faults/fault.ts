import type { Patch } from '../patch.js';

/** Something that could be wrong in `src/` or `sql/`, as a single edit, and the tests that must notice. */
export interface Fault extends Patch {
  /** What is wrong then, as a phrase. */
  readonly name: string;
  /** Below the root of the repository. */
  readonly file: string;
  /** Test files below the root. One of their tests must object, otherwise than by a timeout. */
  readonly tests: readonly string[];
}
