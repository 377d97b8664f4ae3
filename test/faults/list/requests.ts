import type { Fault } from '../fault.js';

const file = 'src/http/body.ts';
const tests = ['test/http/body.test.ts'];
const app = ['test/endpoints/app.test.ts'];

export const requests: readonly Fault[] = [
  {
    name: 'a body without a length may be of any size',
    file,
    find: '    length += chunk.byteLength;\n    if (length > limit) throw tooLarge(limit);',
    replace: '    length += chunk.byteLength;',
    tests,
  },
  {
    name: 'a body may be larger than it says',
    file,
    find: 'if (bytes.byteLength > limit) throw tooLarge(limit);',
    replace: '',
    tests,
  },
  {
    name: 'a body that says that it is too large is read',
    file,
    find: 'if (declared !== null && Number(declared) > limit) throw tooLarge(limit);',
    replace: '',
    tests,
  },
  {
    name: 'compressed bodies are taken for text',
    file,
    find: "!== 'identity') {",
    replace: "=== 'x') {",
    tests,
  },
  {
    name: 'any content type will do',
    file,
    find: 'if (!jsonType.test(',
    replace: 'if (!/^/.test(',
    tests,
  },
  {
    name: 'a browser may send another site’s request without a content type',
    file,
    find: 'if (hasType || isForeign(request)) requireJSON(headers);',
    replace: 'if (hasType) requireJSON(headers);',
    tests: ['test/rest/calls.test.ts'],
  },
  {
    name: 'bytes that are no UTF-8 are replaced',
    file: 'src/http/parse.ts',
    find: '{ fatal: true }',
    replace: '{ fatal: false }',
    tests,
  },
  {
    name: 'the limit of a pull is that of a push',
    file: 'src/endpoints/sync.ts',
    find: 'limit: limits.pull',
    replace: 'limit: limits.push',
    tests,
  },
  {
    name: 'numbers in a push lose digits',
    file: 'src/endpoints/sync.ts',
    find: ', { exactNumbers: true }',
    replace: '',
    tests,
  },
  {
    name: 'numbers in a call lose digits',
    file: 'src/endpoints/rest.ts',
    find: 'readOptionalJSON(request, { limit, holding }, { exactNumbers: true })',
    replace: 'readOptionalJSON(request, { limit, holding })',
    tests: ['test/rest/calls.test.ts'],
  },
  {
    name: 'a user ID may be any text',
    file: 'src/http/identify.ts',
    find: ' && isStorableText(value)',
    replace: '',
    tests: app,
  },
  {
    name: 'a body that authenticate has read is the client’s fault',
    file: 'src/http/identify.ts',
    find: 'if (request.bodyUsed)',
    replace: 'if (request.bodyUsed && request.bodyUsed === null)',
    tests: app,
  },
  {
    name: 'unknown errors are told to the caller',
    file: 'src/http/problem.ts',
    find: "'The server failed; its log has the cause under the request ID'",
    replace: 'String((thrown as Error)?.message)',
    tests: app,
  },
  {
    name: 'a database that is away is an internal error',
    file: 'src/http/problem.ts',
    find: 'if (isTransient(thrown)) return',
    replace: 'if (thrown === isTransient) return',
    tests: app,
  },
  {
    name: 'inherited fields of a body count',
    file: 'src/protocol/fields.ts',
    find: 'return Object.hasOwn(object, name) ? object[name] : undefined;',
    replace: 'return object[name];',
    tests: ['test/protocol/requests.test.ts'],
  },
  {
    name: 'IDs may hold what Postgres does not store',
    file: 'src/protocol/fields.ts',
    find: "if (!isStorableText(value)) throw malformed(name, 'well-formed Unicode without U+0000');",
    replace: '',
    tests: ['test/protocol/requests.test.ts'],
  },
  {
    name: 'args may be nested as deep as they like',
    file: 'src/protocol/json.ts',
    find: 'if (levelsLeft === 0)',
    replace: 'if (levelsLeft === 0.5)',
    tests: ['test/protocol/json.test.ts'],
  },
];
