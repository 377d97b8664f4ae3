/** Faults of reads from standbys. */
import type { Patch } from '../../support/patch.js';

/** A cookie that covers only what is below xmin. */
export const xminAlone: Patch = {
  file: 'protocol/snapshot.ts',
  find: 'return standbySnapshot(',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  replace: 'return parseSnapshot(`${bounds.xmin}:${bounds.xmin}:`) ?? standbySnapshot(',
};

/** A standby that ignores its lag. */
export const carelessOfLag: Patch = {
  file: 'pulls/plan.ts',
  find: "relation === 'same' && !showsAllOf(cookie, state)",
  replace: 'false',
};
