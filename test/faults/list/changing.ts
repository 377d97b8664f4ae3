import type { Fault } from '../fault.js';

const tests = ['test/pulls/changed-views.test.ts'];
const held = 'src/installation/held-views.ts';
const turnover = 'src/store/patches/turnover.ts';
const parameters = 'src/protocol/parameters.ts';
const sealing = ['test/protocol/parameters.test.ts'];
const kept = 'sql/0001-initial.sql';
const keeping = ['test/installation/kept-views.test.ts'];

export const changing: readonly Fault[] = [
  {
    name: 'old rows are read from a table of another shape',
    file: held,
    find: "if (viewDigest(view, tables) === digest) return 'rows';",
    replace: "if (viewDigest(view, tables) !== '' && digest !== '') return 'rows';",
    tests,
  },
  {
    name: 'a view with other parameters is the same',
    file: held,
    find: 'JSON.stringify([now[i], own])',
    replace: 'JSON.stringify([now[i], held.find(({ digest }) => digest === now[i])?.texts])',
    tests,
  },
  {
    name: 'what the client has of a view that is gone is not deleted',
    file: held,
    find: 'held.filter((_, i) => !found.includes(i))',
    replace: 'held.filter((_, i) => held.length < i)',
    tests,
  },
  {
    name: 'of a view that is gone, the rows of now are deleted',
    file: turnover,
    find: "id === undefined ? 'now' : states.asof(id)",
    replace: "id === undefined || states ? 'now' : states.asof(id)",
    tests,
  },
  {
    name: 'changes to the tables of views that are gone are not looked for',
    file: held,
    find: 'places[i] !== undefined), ...gone]',
    replace: 'places[i] !== undefined)]',
    tests,
  },
  {
    name: 'an answer without ops has the old cookie, though the views are others',
    file: 'src/pulls/pull.ts',
    find: '    if (this.#since.changed) return true;\n',
    replace: '',
    tests,
  },
  {
    name: 'views that have changed are read as if they had not',
    file: 'src/pulls/shared-reads.ts',
    find: ' && !reader.changed',
    replace: '',
    tests,
  },
  {
    name: 'clients that have other views before share an answer',
    file: 'src/pulls/reader.ts',
    find: 'this.changed ? [views, parameters] : []',
    replace: 'this.changed ? [typeof views, typeof parameters] : []',
    tests,
  },
  {
    name: 'an audit takes the checksums of one view for those of another',
    file: 'src/pulls/auditor.ts',
    find: 'if (!places) return audit;',
    replace: 'if (!places || places.length === audit.checksums.length) return audit;',
    tests,
  },
  {
    name: 'parameters can be used for another user',
    file: parameters,
    find: '.update(userID).digest()',
    replace: '.update(userID.slice(0, 0)).digest()',
    tests: sealing,
  },
  {
    name: 'parameters of any length are in the cookie',
    file: parameters,
    find: 'const mostBytes = 200;',
    replace: 'const mostBytes = 20_000;',
    tests: [...sealing, ...tests],
  },
  {
    name: 'parameters are in the cookie as they are',
    file: parameters,
    find: 'encrypting.update(plain), encrypting.final()',
    replace: 'plain, encrypting.update(plain).subarray(plain.length), encrypting.final()',
    tests: sealing,
  },
  {
    name: 'views are kept for ever',
    file: kept,
    find: 'offset 1000',
    replace: 'offset 1000000',
    tests: keeping,
  },
  {
    name: 'a view that is served still counts as old as when it was first served',
    file: kept,
    find: "digest = any (digests) and at < clock_timestamp() - interval '1 day'",
    replace: "digest = any (digests) and at < clock_timestamp() - interval '1000 days'",
    tests: keeping,
  },
  {
    name: 'a server that could not keep a view does not try again',
    file: 'src/installation/kept-views.ts',
    find: 'kept.catch(() => this.#kept.delete(digest));',
    replace: 'kept.catch(() => this.#kept.get(digest));',
    tests: keeping,
  },
  {
    name: 'what is kept of a view, and cannot be read, fails each pull',
    file: 'src/pulls/since.ts',
    find: 'if (error instanceof Problem || isTransient(error)) throw error;',
    replace: 'if (error instanceof Error) throw error;',
    tests,
  },
];
