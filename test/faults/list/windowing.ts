import type { Fault } from '../fault.js';

const window = 'src/window/window.ts';
const looks = 'src/window/looks.ts';
const seated = 'src/pulls/seated-reads.ts';
const seats = 'src/store/patches/seats.ts';
const sight = 'src/window/sight.ts';
const known = 'src/window/known-cookies.ts';
const model = ['test/window/window.test.ts'];
const overDatabase = ['test/window/looks.test.ts'];
const colleagues = ['test/pulls/colleagues.test.ts'];
const windowed = ['test/pulls/windowed-pulls.test.ts'];

export const windowing: readonly Fault[] = [
  {
    name: 'what may have been pruned in between is not missed',
    file: window,
    find: 'before.snapshot.xmin >= horizon &&',
    replace: '',
    tests: model,
  },
  {
    name: 'a server that was started anew goes on',
    file: window,
    find: 'started === before.started &&',
    replace: '',
    tests: model,
  },
  {
    name: 'a database that has lost a tick goes on',
    file: window,
    find: '!diverged &&',
    replace: '',
    tests: overDatabase,
  },
  {
    name: 'it reaches as far as it ever did',
    file: window,
    find: 'this.#from = mark.snapshot;',
    replace: '',
    tests: model,
  },
  {
    name: 'it forgets nothing',
    file: window,
    find: 'while (this.#size > this.#most) {',
    replace: 'while (this.#size > this.#most * 1000) {',
    tests: model,
  },
  {
    name: 'more rows than are counted are of the transactions that are listed',
    file: window,
    find: 'if (rows >= mostRows || !xids) log.blurredBefore = header.snapshot;',
    replace: '',
    tests: model,
  },
  {
    name: 'more mutations than are listed are of the groups that are',
    file: window,
    find: 'if (mutations.length >= mostMutations) this.#movesBlurredBefore = header.snapshot;',
    replace: '',
    tests: model,
  },
  {
    name: 'a truncation is forgotten',
    file: window,
    find: 'truncated ||= truncations.since(base).length > 0;',
    replace: '',
    tests: model,
  },
  {
    name: 'transactions that end late are not found',
    file: 'src/window/transactions.ts',
    find: 'for (const [first, last] of unseen) {',
    replace: 'for (const [first, last] of unseen.slice(0, 0)) {',
    tests: ['test/window/transactions.test.ts'],
  },
  {
    name: 'tables that were not followed count as unchanged',
    file: looks,
    find: 'this.#cluster === cluster && this.#window?.lists(tables) ? this.#window : undefined',
    replace: 'this.#cluster === cluster ? this.#window : undefined',
    tests: overDatabase,
  },
  {
    name: 'another cluster goes on',
    file: looks,
    find: 'this.#cluster === cluster && this.#window',
    replace: 'this.#window',
    tests: overDatabase,
  },
  {
    name: 'an older look ends the window',
    file: looks,
    find: 'if (known.header !== seen && covers(known.header.snapshot, header.snapshot)) return known;',
    replace: '',
    tests: overDatabase,
  },
  {
    name: 'a transaction that is open at two looks is no news',
    file: 'src/store/look.ts',
    find: 'String(seen.next - seen.snapshot.xmax)',
    replace: "'0'",
    tests: ['test/store/header.test.ts'],
  },
  {
    name: 'mutations of the group are overlooked',
    file: sight,
    find: ' && !window.hasMoved(base, clientGroupID)',
    replace: '',
    tests: windowed,
  },
  {
    name: 'a cookie of another group is as good',
    file: sight,
    find: '!member.sameGroup || ',
    replace: '',
    tests: windowed,
  },
  {
    name: 'a tick that nobody has seen is as good',
    file: sight,
    find: 'if (tick !== null && !window.knowsTick(tick)) return undefined;',
    replace: '',
    tests: windowed,
  },
  {
    name: 'a known cookie may have other fields',
    file: known,
    find: 'value.snapshot === cookie.snapshot &&',
    replace: '',
    tests: windowed,
  },
  {
    name: 'a known cookie may have more fields',
    file: known,
    find: ' &&\n    Object.keys(value).length === fieldCount',
    replace: '',
    tests: windowed,
  },
  {
    name: 'a known cookie outlives its secret',
    file: known,
    find: 'found?.secret === secret && isSame',
    replace: 'found && isSame',
    tests: windowed,
  },
  {
    name: 'what was quiet in one window is quiet in the next',
    file: known,
    find: 'this.#quiet?.window === window ? this.#quiet.until',
    replace: 'this.#quiet ? this.#quiet.until',
    tests: windowed,
  },
  {
    name: 'what another group’s pull found quiet is quiet',
    file: 'src/pulls/shared-reads.ts',
    find: 'if (window && member.sameGroup) known',
    replace: 'if (window) known',
    tests: windowed,
  },
  {
    name: 'a delta that has found nothing is made again',
    file: 'src/pulls/pull.ts',
    find: 'held, more) : this.#unchanged(reader, header) };',
    replace: 'held, more) : unchangedAnswer(this.#parts.request) };',
    tests: colleagues,
  },
  {
    name: 'seats are mixed up',
    file: seated,
    find: 'texts.get(isShared ? place : null)',
    replace: 'texts.get(isShared ? (place + 1) % tables.length : null)',
    tests: colleagues,
  },
  {
    name: 'all who share a statement get all that it yields',
    file: seated,
    find: 'const text = texts.get(isShared ? place : null);',
    replace: "const text = texts.size === 0 ? undefined : [...texts.values()].join('');",
    tests: colleagues,
  },
  {
    name: 'users with other parameters share a seat',
    file: seated,
    find: 'const key = JSON.stringify(seat);',
    replace: "const key = '';",
    tests: colleagues,
  },
  {
    name: 'rows of all seats are paired',
    file: 'src/store/patches/delta.ts',
    find: "const key = [...whom, 'tidemark_key",
    replace: "const key = ['tidemark_key",
    tests: colleagues,
  },
  {
    name: 'who has not seen more than others is told no more',
    file: seated,
    find: 'window!.header.snapshot, gap.xids)',
    replace: 'window!.header.snapshot, gap.xids.slice(-1))',
    tests: colleagues,
  },
  {
    name: 'a delta does not read what a probe has seen beyond the window',
    file: seated,
    find: '[...(gap?.changed ?? []), ...reader.changed]',
    replace: '[...(gap?.changed ?? reader.changed)]',
    tests: windowed,
  },
  {
    name: 'more than a statement may yield is cut off',
    file: seated,
    find: 'if (ops.length > mostOps || ops.some(({ line }) => line === null)) return new Map();',
    replace: '',
    tests: colleagues,
  },
  {
    name: 'an aggregate of parameters is shared',
    file: seats,
    find: 'if (!views.every(({ view }) => view.isSeparable)) return 1;',
    replace: '',
    tests: colleagues,
  },
  {
    name: 'any number of comparisons share a statement',
    file: seats,
    find: "=== 'compare') ? mostCompared : mostSeats",
    replace: "=== 'compare') ? mostSeats : mostSeats",
    tests: colleagues,
  },
];
