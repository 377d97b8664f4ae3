import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEmbedded } from './embedded.js';
import { SetupError } from './errors.js';

it('reports a failed start of the embedded Postgres with its own SetupError', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-embedded-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const failure = await startEmbedded({ directory: join(folder, 'data'), binaries: join(folder, 'none') }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(SetupError);
  expect(failure).toHaveProperty('message', expect.stringContaining('is not a package with Postgres binaries'));
});
