import type { Fault } from '../fault.js';

const stream = 'src/http/sending/stream.ts';
const copy = 'src/db/copy.ts';
const writer = 'src/pulls/write-ops.ts';
const written = ['test/pulls/written-ops.test.ts'];
const node = ['test/node.test.ts'];
const pg = ['test/db/pg.test.ts'];
const compress = 'src/http/sending/compress.ts';
const compressing = ['test/http/compress.test.ts'];
const compressed = ['test/conformance/pull-compressed.test.ts'];

export const streaming: readonly Fault[] = [
  {
    name: 'an encoding that the client refuses is taken by the star',
    file: compress,
    find: "weights.get(name) ?? weights.get('*') ?? 0",
    replace: "(weights.get(name) || weights.get('*')) ?? 0",
    tests: compressing,
  },
  {
    name: 'an encoding that the client does not accept is taken',
    file: compress,
    find: 'filter((one) => weightOf(one) > 0)',
    replace: 'slice()',
    tests: compressing,
  },
  {
    name: 'the encoding that the client likes least is taken',
    file: compress,
    find: 'weightOf(b) - weightOf(a)',
    replace: 'weightOf(a) - weightOf(b)',
    tests: compressing,
  },
  {
    name: 'pieces are compressed one by one, small ones not at all',
    file: compress,
    find: 'BROTLI_PARAM_QUALITY]: 2',
    replace: 'BROTLI_PARAM_QUALITY]: 1',
    tests: compressing,
  },
  {
    name: 'compression goes on when nobody reads any more',
    file: compress,
    find: '  yield* stream;',
    replace: '  for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk;',
    tests: compressing,
  },
  {
    name: 'an answer that fails is compressed as if it were whole',
    file: compress,
    find: '  pipeline(pieces, stream).catch(() => {});',
    replace:
      '  pipeline(whatCame(pieces), stream).catch(() => {});\n  async function* whatCame(all: typeof pieces) { try { yield* all; } catch {} }',
    tests: compressing,
  },
  {
    name: 'an answer does not say that it depends on what the client accepts',
    file: compress,
    find: "{ Vary: 'Accept-Encoding', ...",
    replace: '{ ...',
    tests: compressed,
  },
  {
    name: 'compression cannot be turned off',
    file: 'src/http/sending/deliver.ts',
    find: 'compression && isWorthIt',
    replace: 'isWorthIt',
    tests: compressed,
  },
  {
    name: 'short answers are compressed',
    file: 'src/http/sending/deliver.ts',
    find: 'compression && isWorthIt',
    replace: 'compression',
    tests: compressed,
  },
  {
    name: 'an answer that fails ends as if it were whole',
    file: stream,
    find: "if (!breakOff()) controller.error(new Error('The response was cut off'));",
    replace: 'controller.close();',
    tests: node,
  },
  {
    name: 'an answer that fails tells the runtime why',
    file: stream,
    find: "if (!breakOff()) controller.error(new Error('The response was cut off'));",
    replace: 'controller.error(error);',
    tests: node,
  },
  {
    name: 'what fails before the first chunk comes too late for an error response',
    file: stream,
    find: 'limits, await iterator.next());',
    replace: 'limits);',
    tests: node,
  },
  {
    name: 'an answer that nobody reads is made on',
    file: stream,
    find: 'await iterator.return?.();',
    replace: '',
    tests: node,
  },
  {
    name: 'an answer is made ahead of its reader',
    file: stream,
    find: '{ highWaterMark: 0 },',
    replace: '{ highWaterMark: 1_000_000 },',
    tests: node,
  },
  {
    name: 'a body that is left keeps its connection',
    file: 'src/pulls/pulled.ts',
    find: 'await more?.close();',
    replace: '',
    tests: ['test/pulls/large-patches.test.ts'],
  },
  {
    name: 'the quotes that COPY puts around line breaks are sent',
    file: 'src/pulls/patch-stream.ts',
    find: 'bytes.includes(quote) ? ',
    replace: 'bytes.includes(0) ? ',
    tests: ['test/pulls/patch-stream.test.ts'],
  },
  {
    name: 'messages of another kind are taken for rows',
    file: 'src/db/copy-stream.ts',
    find: 'if (this.#header[0] === copyData) {',
    replace: 'if (this.#header[0] !== 0) {',
    tests: ['test/db/copy-stream.test.ts'],
  },
  {
    name: 'rows are read without a turn for anything else',
    file: 'src/db/copy-stream.ts',
    find: `    setImmediate(() => {
      this.#isScheduled = false;
      this.#forward();
    });`,
    replace: `    this.#forward();
    this.#isScheduled = false;`,
    tests: ['test/db/pg.test.ts'],
  },
  {
    name: 'a null is written as text',
    file: writer,
    find: 'isQuoted = isString && !isNull;',
    replace: 'isQuoted = isString;',
    tests: written,
  },
  {
    name: 'an escape whose halves come apart is lost',
    file: writer,
    find: 'if (isEscaped && at + 1 === end) break;',
    replace: '',
    tests: written,
  },
  {
    name: 'control characters are sent as they are',
    file: writer,
    find: '(escapes[code]?.length ?? 1) > 1',
    replace: 'code === quote || code === tab || code === newline',
    tests: written,
  },
  {
    name: 'JSON is escaped once more',
    file: writer,
    find: 'if (isString) {',
    replace: 'if (current) {',
    tests: written,
  },
  {
    name: 'rows of all views are written as the first view’s',
    file: writer,
    find: 'form = this.#forms[index]!;',
    replace: 'form = this.#forms[0]!;',
    tests: written,
  },
  {
    name: 'the text of a date is taken for its JSON',
    file: 'src/view/compile/value-sql.ts',
    find: 'strings.has(typeOID)',
    replace: 'strings.has(typeOID) || typeOID === 1082',
    tests: written,
  },
  {
    name: 'a bigint that is too large is written as a number',
    file: 'src/view/compile/value-sql.ts',
    find: `case when \${exact} then \${whole}`,
    replace: `case when true then \${whole}`,
    tests: written,
  },
  {
    name: 'a header that comes in pieces is cut',
    file: 'src/pulls/patch-stream.ts',
    find: 'Buffer.concat([read, value])',
    replace: 'value',
    tests: ['test/pulls/patch-stream.test.ts'],
  },
  {
    name: 'a COPY that is left goes on in the database',
    file: copy,
    find: "if (outcome === 'running') checkout.cancel",
    replace: "if (outcome === 'failed') checkout.cancel",
    tests: pg,
  },
  {
    name: 'a connection in the midst of a COPY goes back into the pool',
    file: copy,
    find: "checkout.release(outcome !== 'complete');",
    replace: 'checkout.release();',
    tests: pg,
  },
  {
    name: 'pokes that nobody reads are kept',
    file: 'src/endpoints/listening/poke-streams.ts',
    find: 'if (controller.desiredSize! > 0) {',
    replace: 'if (controller) {',
    tests: ['test/endpoints/poke-streams.test.ts'],
  },
  {
    name: 'a stream of pokes outlives its authorization',
    file: 'src/endpoints/listening/poke-streams.ts',
    find: 'Math.min(ms, streamLifeMs())',
    replace: 'streamLifeMs()',
    tests: ['test/endpoints/poke-streams.test.ts'],
  },
  {
    name: 'a stream of pokes that has ended still has its listener',
    file: 'src/endpoints/listening/listeners.ts',
    find: 'this.#leave?.();',
    replace: '',
    tests: ['test/endpoints/poke-streams.test.ts'],
  },
  {
    name: 'streams of pokes are opened without limit',
    file: 'src/endpoints/listening/listeners.ts',
    find: '    holding.take(1);\n',
    replace: '',
    tests: ['test/endpoints/poke-requests.test.ts'],
  },
  {
    name: 'a server that stops opens streams of pokes',
    file: 'src/endpoints/listening/listeners.ts',
    find: 'this.#isClosed = true;',
    replace: '',
    tests: ['test/endpoints/poke-requests.test.ts'],
  },
];
