/** The ways in which a database can lose its newest transactions. */

import { Postgres } from '../rig/postgres.js';
import { migrated, type Rig } from '../rig/rig.js';
import { dump, restoreDump } from './dump.js';

export interface Loss {
  readonly name: string;
  /** Loses what `work` writes. Returns the database that remains. */
  lose(rig: Rig, work: () => Promise<void>): Promise<Postgres>;
}

const fromFiles: Loss = {
  name: 'a restore from files',
  async lose({ postgres }, work) {
    await postgres.stop();
    postgres.backUp();
    await postgres.start();
    await work();
    await postgres.kill();
    postgres.restore();
    await postgres.start();
    return postgres;
  },
};

const fromDump: Loss = {
  name: 'a restore from a dump',
  async lose({ postgres, code }, work) {
    const rows = await dump(postgres.pool);
    await work();
    const other = await Postgres.start(new URL(postgres.url).password);
    await migrated(other, code);
    await restoreDump(other.pool, rows);
    await migrated(other, code);
    return other;
  },
};

const promotion: Loss = {
  name: 'a standby that is promoted',
  async lose({ postgres }, work) {
    const standby = await postgres.startStandby();
    await work();
    // It misses the second half.
    await standby.stop();
    await work();
    await postgres.kill();
    await standby.start();
    await standby.promote();
    return standby;
  },
};

export const losses: readonly Loss[] = [fromFiles, fromDump, promotion];
