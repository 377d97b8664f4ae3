/** What can be wrong where standbys are asked. */
import type { Patch } from '../../support/patch.js';

/** A cookie that vouches for what is below xmin alone. */
export const xminAlone: Patch = {
  file: 'protocol/snapshot.ts',
  find: 'return standbySnapshot(',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  replace: 'return parseSnapshot(`${bounds.xmin}:${bounds.xmin}:`) ?? standbySnapshot(',
};

/** A standby that does not care whether it is behind. */
export const carelessOfLag: Patch = {
  file: 'pulls/plan.ts',
  find: "relation === 'same' && !showsAllOf(cookie, header)",
  replace: 'false',
};
