/** Verifies that the faults of `npm run stress -- torture 17` fit the compiled package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtServer } from '../../support/built.js';
import { patched } from '../../support/patch.js';
import { faults } from './faults.js';

it.each(faults)('the fault fits the compiled package: $name', ({ patches }) => {
  for (const patch of patches) {
    const sound = readFileSync(join(builtServer, patch.file), 'utf8');
    expect(patched(sound, patch)).not.toBe(sound);
  }
});
