import { describe, expect, it } from 'vitest';
import { codeVersion, migrations, recordOf, refuseOther } from './version.js';

describe('migrations', () => {
  it('have increasing numbers, the last of which is the version of the code', () => {
    const versions = migrations.map(({ version }) => version);
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
    expect(versions.at(-1)).toBe(codeVersion);
  });

  it('must have run as far as the code needs', () => {
    const installed = { newest: 1, breaking: 1, encoding: 'UTF8' };
    expect(() => refuseOther(installed, { newest: 3, oldest: 1 })).not.toThrow();
    expect(() => refuseOther(installed, { newest: 3, oldest: 2 })).toThrow(
      'The schema "tidemark" has version 1, but this code needs 2. Run `tidemark migrate`.',
    );
  });

  it('are recorded in a table that earlier code does not read, except those that break it', () => {
    const record = (version: number) => recordOf({ version, file: '', sql: '' });
    expect(record(1)).toBe('tidemark.migration');
    expect(record(2)).toBe('tidemark.expansion');
  });
});
