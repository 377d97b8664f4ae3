import type { Fault } from '../fault.js';

const budget = { file: 'src/limits/budget.ts', tests: ['test/limits/budget.test.ts'] };
const rounds = { file: 'src/limits/rounds.ts', tests: ['test/limits/rounds.test.ts'] };
const ahead = { file: 'src/http/sending/read-ahead.ts', tests: ['test/http/read-ahead.test.ts'] };
const stream = { file: 'src/http/sending/stream.ts', tests: ['test/http/stream.test.ts'] };
const parse = { file: 'src/http/parse.ts', tests: ['test/http/parse.test.ts'] };
const push = { file: 'src/protocol/push.ts', tests: ['test/protocol/requests.test.ts'] };
const bodies = ['test/conformance/large-bodies.test.ts'];

export const bounding: readonly Fault[] = [
  {
    ...budget,
    name: 'one user may have everything',
    find: "if (this.#of(userID) + amount > this.#options.each) return 'too-many-requests';",
    replace: '',
  },
  {
    ...budget,
    name: 'there is no end to what may be taken',
    find: "this.#used + amount > this.#options.total ? 'unavailable' : undefined",
    replace: 'undefined',
  },
  { ...budget, name: 'what was taken is given back twice', find: '        held = 0;\n', replace: '' },
  {
    ...budget,
    name: 'what failed work took is not given back',
    find: 'finally {',
    replace: 'catch (error) {\n      throw error;\n    }\n    if (userID) {',
  },
  { ...rounds, name: 'all requests of a user begin at once', find: 'mostOfOne = 32', replace: 'mostOfOne = 1e9' },
  {
    ...rounds,
    name: 'who comes while others wait goes first',
    find: '      this.#begun.set(userID, next.length);\n',
    replace: '      this.#begun.set(userID, 0);\n',
  },
  {
    ...rounds,
    name: 'only the first of those that wait begin',
    find: 'if (this.#begun.size > 0) ',
    replace: 'if (false) ',
  },
  {
    file: 'src/serving.ts',
    tests: ['test/node.test.ts'],
    name: 'few connections may come at once',
    find: 'backlog = 4_096',
    replace: 'backlog = 511',
  },
  {
    ...ahead,
    name: 'what comes while a client catches up is lost',
    find: '    if (late) return { value: late };\n',
    replace: '',
  },
  {
    ...ahead,
    name: 'what could not be stored is lost',
    find: 'if (piece.done || !this.#holding.tryTake(piece.value.byteLength)) return piece;',
    replace:
      'if (piece.done) return piece;\n      if (!this.#holding.tryTake(piece.value.byteLength)) return undefined;',
  },
  { ...ahead, name: 'what is in a file is counted for ever', find: '    this.#holding.end();\n', replace: '' },
  {
    ...ahead,
    name: 'a failure leaves behind what was read ahead',
    find: '      await this.return().catch(() => {});\n',
    replace: '',
  },
  {
    ...ahead,
    name: 'a source that fails to end leaves behind what was read ahead',
    find: '    try {\n      await this.#source.return?.();\n    } finally {\n      await this.#store?.close();\n    }\n',
    replace: '    await this.#source.return?.();\n    await this.#store?.close();\n',
  },
  {
    ...ahead,
    name: 'it is read ahead for a client that went away while a piece came',
    find: 'if (!piece.done && !this.#hasEnded) this.#wait();',
    replace: 'if (!piece.done) this.#wait();',
  },
  {
    ...ahead,
    name: 'nothing is read ahead',
    find: 'patienceMs - this.#waitedMs',
    replace: '2 ** 31 - 1',
  },
  {
    name: 'a temporary file keeps its name',
    file: 'src/http/sending/spool-file.ts',
    find: '    await rm(path);\n',
    replace: '    if (path === "") await rm(path);\n',
    tests: ahead.tests,
  },
  {
    ...stream,
    name: 'a client may take nothing for as long as it likes',
    find: 'bytes += value.byteLength;\n            stall = setTimeout(drop, stallMs, controller);',
    replace: 'bytes += value.byteLength;',
  },
  {
    ...stream,
    name: 'a client may take a bit now and then for as long as it likes',
    find: '        if (longestMs !== undefined) age = setTimeout(drop, longestMs, controller);\n',
    replace: '',
  },
  {
    ...stream,
    name: 'a client is dropped while the server takes long',
    find: '        clearTimeout(stall);\n        try {',
    replace: '        try {',
  },
  {
    ...parse,
    name: 'a long body is parsed at once',
    find: 'if (bytes.byteLength <= stepLength) return',
    replace: 'if (bytes.byteLength <= 1e9) return',
  },
  {
    ...parse,
    name: 'a body may have any number of arrays',
    find: '++containers > mostContainers',
    replace: '++containers > Infinity',
    tests: bodies,
  },
  {
    ...parse,
    name: 'many bodies are parsed in one turn',
    find: 'lastStep = lastStep.then(() => nextTurn());',
    replace: 'lastStep = nextTurn();',
  },
  {
    ...parse,
    name: 'numbers in a long body lose digits',
    find: 'if (!isCarriedByDouble(token)) throw',
    replace: 'if (token === "") throw',
  },
  {
    ...push,
    name: 'a push may have any number of mutations',
    find: "  if (mutations.length > most) throw tooMany(most, 'mutations');\n",
    replace: '',
  },
  {
    ...push,
    name: 'a push may have any number of clients',
    find: "  if (clients.size > mostClients) throw tooMany(mostClients, 'clients');\n",
    replace: '',
  },
  {
    name: 'a body without a length is not counted',
    file: 'src/http/body.ts',
    find: '    holding?.take(chunk.byteLength);\n',
    replace: '',
    tests: bodies,
  },
  {
    name: 'a body with a length is not counted',
    file: 'src/http/body.ts',
    find: '    holding?.take(Number(declared));\n',
    replace: '',
    tests: bodies,
  },
];
