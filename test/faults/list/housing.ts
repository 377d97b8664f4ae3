import type { Fault } from '../fault.js';

const attempts = { file: 'src/tenants/attempts.ts', tests: ['test/tenants/attempts.test.ts'] };
const closing = { file: 'src/tenants/closing.ts', tests: ['test/tenants/closing.test.ts'] };
const company = { file: 'src/tenants/company.ts', tests: ['test/tenants/company.test.ts'] };
const pace = { file: 'src/tenants/pace.ts', tests: ['test/tenants/pace.test.ts'] };
const stock = { file: 'src/db/connection-stock.ts', tests: ['test/db/connection-stock.test.ts'] };

/** Many tenants in one process. */
export const housing: readonly Fault[] = [
  {
    ...attempts,
    name: 'a tenant that cannot be opened is tried for everyone who asks',
    find: 'now + this.#pauseMs(error)',
    replace: 'now',
  },
  {
    ...attempts,
    name: 'the pause after a failure does not grow',
    find: '2 ** this.#failures++',
    replace: '2 ** 0',
  },
  {
    ...closing,
    name: 'a tenant is closed while it is in use',
    find: '!isBusy && now - usedAt',
    replace: 'now - usedAt',
  },
  { ...closing, name: 'whoever is in use makes room', find: 'if (!one.isBusy && ', replace: 'if (' },
  {
    name: 'there is room for any number of tenants',
    file: 'src/tenants/house.ts',
    find: 'this.#resident.size >= this.#options.mostOpen',
    replace: 'this.#resident.size < 0',
    tests: ['test/tenants/tenants.test.ts'],
  },
  {
    name: 'tenants that nobody uses have upkeep all the time',
    file: 'src/tenants/tenant.ts',
    find: '!this.#sync || this.#isKeptUp',
    replace: '!this.#sync',
    tests: ['test/tenants/upkeep.test.ts'],
  },
  {
    name: 'the upkeep of many tenants is begun at the same moment',
    file: 'src/tenants/upkeep.ts',
    find: '(1_000 * i) / length',
    replace: '0',
    tests: ['test/tenants/upkeep.test.ts'],
  },
  {
    name: 'the upkeep of all tenants is done at once',
    file: 'src/tenants/upkeep.ts',
    find: '.slice(0, Math.ceil(all.length / rounds))',
    replace: '',
    tests: ['test/tenants/upkeep.test.ts'],
  },
  {
    name: 'those who come again at once are refused at once',
    file: 'src/tenants/tenant.ts',
    find: 'if (isRefused) await this.#putOff();',
    replace: 'void isRefused;',
    tests: ['test/tenants/failing.test.ts'],
  },
  {
    name: 'all who are refused are told at the same moment',
    file: 'src/tenants/tenant.ts',
    find: 'this.#refusedAt + refusals.everyMs',
    replace: 'now + 1_000',
    tests: ['test/tenants/failing.test.ts'],
  },
  {
    ...company,
    name: 'a flood goes on while the others suffer',
    find: 'gain * (this.#tolerated - suffering)',
    replace: 'gain * (suffering - this.#tolerated)',
  },
  {
    ...company,
    name: 'what the others suffer in a flood is soon what is usual',
    find: 'const isFlooded = this.#isFlooded(now);',
    replace: 'const isFlooded = false;',
  },
  {
    ...company,
    name: 'what part of the requests usually takes long is taken for granted',
    find: 'tolerated.times * (this.#usualSuffering.last ?? 0)',
    replace: '1 / 12',
  },
  {
    ...company,
    name: 'a flood never pauses',
    find: 'this.#pausedUntil = now + pause.ms;',
    replace: 'this.#pausedUntil = 0;',
  },
  {
    ...company,
    name: 'a flood is noticed after so many requests of the others, however long these take to come',
    file: 'src/tenants/recent-mean.ts',
    find: 'Math.exp((this.#at - now) / this.#memoryMs)',
    replace: '1 - 1 / 256',
  },
  {
    name: 'what is usual is what the longest request took',
    file: 'src/tenants/usual.ts',
    tests: ['test/tenants/usual.test.ts'],
    find: 'Math.floor(this.#lastMs.length * longPart) - 1',
    replace: '0',
  },
  {
    name: 'a turn goes to the next before it has rested',
    file: 'src/tenants/turns.ts',
    tests: ['test/tenants/turns.test.ts'],
    find: 'if (restMs < 1)',
    replace: 'if (restMs >= 0)',
  },
  {
    name: 'no fewer turns are taken when the others suffer',
    file: 'src/tenants/turns.ts',
    tests: ['test/tenants/turns.test.ts'],
    find: 'while (this.#taken < this.#company.turns) {',
    replace: 'for (let given = 0; given < 1; given++) {',
  },
  {
    ...company,
    name: 'a tenant is alone if it had the last request',
    find: 'const last = this.#newest?.tenant === tenant ? this.#other : this.#newest;',
    replace: 'const last = this.#newest?.tenant === tenant ? undefined : this.#newest;',
  },
  {
    name: 'a tenant may have any number of requests under way',
    file: 'src/tenants/tenant.ts',
    find: 'this.#running >= mostUnderWay',
    replace: 'this.#running < 0',
    tests: ['test/tenants/isolation.test.ts'],
  },
  {
    name: 'users of two tenants with the same ID are one user',
    file: 'src/tenants/own-users.ts',
    find: 'userID: this.#prefix + ctx.userID',
    replace: 'userID: ctx.userID',
    tests: ['test/tenants/schemas.test.ts'],
  },
  {
    ...pace,
    name: 'a tenant whose requests always wait does not wait for a turn',
    find: 'this.#gate.waiting > 0 &&',
    replace: 'this.#gate.waiting < 0 &&',
  },
  {
    ...pace,
    name: 'requests that are held up hold up all others of their tenant',
    find: 'const timer = setTimeout(end, longestHoldMs);',
    replace: 'const timer = setTimeout(() => {}, longestHoldMs);',
  },
  {
    ...stock,
    name: 'whoever wants many connections gets all',
    find: 'const share = 1 / 4;',
    replace: 'const share = 100;',
  },
  {
    ...stock,
    name: 'whoever comes with many requests opens many connections at the same time',
    find: '!isConnecting && ',
    replace: '',
  },
  {
    ...stock,
    name: 'idle connections are kept from those who need one',
    find: '[...this.#pools].find(({ hasIdle }) => hasIdle)?.closeOne();',
    replace: '',
  },
  {
    name: 'a process that another one replaces keeps the streams of its tenants',
    file: 'src/tenants/house.ts',
    find: 'if (this.#isReplaced) sync.endStreams();',
    replace: 'if (this.#isReplaced) sync.ready();',
    tests: ['test/tenants/ending.test.ts'],
  },
  {
    name: 'a tenant that is opened late has streams that nothing ends',
    file: 'src/tenants/tenant.ts',
    find: '      this.#parts.endAsToldTo(sync);\n',
    replace: '',
    tests: ['test/tenants/ending.test.ts'],
  },
  {
    name: 'a migration that has failed for a tenant succeeds',
    file: 'src/cli/migrate-tenants.ts',
    find: '  return 1;\n',
    replace: '  return 0;\n',
    tests: ['test/cli/migrate-tenants.test.ts'],
  },
];
