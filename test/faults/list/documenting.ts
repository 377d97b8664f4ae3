import type { Fault } from '../fault.js';

const walk = 'src/openapi/schemas/schema-walk.ts';
const components = 'src/openapi/schemas/component-schemas.ts';
const tests = ['test/openapi/component-schemas.test.ts'];

export const documenting: readonly Fault[] = [
  {
    name: 'what the names of properties refer to is lost',
    file: walk,
    find: "  'propertyNames',\n",
    replace: '',
    tests,
  },
  {
    name: 'what stands in a list is lost',
    file: walk,
    find: "'oneOf', 'prefixItems'",
    replace: "'oneOf'",
    tests,
  },
  {
    name: 'definitions that differ in what they refer to are one',
    file: components,
    find: 'JSON.stringify([definition, local.closure(definition)])',
    replace: 'JSON.stringify([definition, local.content(definition)])',
    tests,
  },
  {
    name: 'metadata of a validator is published',
    file: 'src/openapi/schemas/json-schema.ts',
    find: 'kept.has(keyword) || (',
    replace: 'keyword || (',
    tests: ['test/openapi/validators.test.ts'],
  },
];
