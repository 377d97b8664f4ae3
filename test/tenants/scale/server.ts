/** The server under test: tenants by a header, each with a database whose address the environment gives. */
import { createTenants } from '../../../src/index.js';
import { listen } from '../../../src/node.js';
import { collectGarbage } from '../../garbage.js';
import { silent } from '../../log.js';
import { opened, tenantOf } from '../tenanted.js';

const addresses = JSON.parse(process.env.ADDRESSES!) as Readonly<Record<string, string>>;
const cluster = new URL(process.env.DATABASE_URL!);

const tenants = await createTenants({
  tenantOf,
  open(tenant) {
    const address = new URL(cluster);
    address.pathname = tenant;
    return opened(addresses[tenant] ?? address.href);
  },
  idleMs: Number(process.env.IDLE_MS),
  log: silent,
});
const { url } = await listen(tenants, { log: silent, port: 0, hostname: '127.0.0.1' });

process.on('message', () => {
  collectGarbage();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send!({ rssMB: rss / 2 ** 20, heapMB: heapUsed / 2 ** 20, cpuMs: (user + system) / 1000 });
});
process.on('disconnect', () => process.exit());
process.send!({ url });
