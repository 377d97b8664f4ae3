/**
 * Tenants under test, as an application runs them: the built package. A header names a request's tenant. The
 * environment has the addresses of some databases; the others are in the same cluster, under the tenants' names.
 */
import { createTenants } from 'tidemark';
import { listen } from 'tidemark/node';
import { authenticate, mutators, views } from '../applications/notes.mjs';
import { answerWithState } from './state.mjs';

const { DATABASE_URL = '', ADDRESSES = '{}', IDLE_MS } = process.env;
/** @type {Record<string, string>} */
const addresses = JSON.parse(ADDRESSES);
const log = { debug() {}, info() {}, warn() {}, error() {} };

const tenants = await createTenants({
  tenantOf: (request) => request.headers.get('X-Tenant'),
  open(tenant) {
    const database = addresses[tenant] ?? Object.assign(new URL(DATABASE_URL), { pathname: tenant }).href;
    return { database, views, mutators, authenticate };
  },
  idleMs: Number(IDLE_MS),
  log,
});
const { url } = await listen(tenants, { port: 0, hostname: '127.0.0.1', log });
answerWithState();
process.send?.({ url });
