import type { Fault } from '../fault.js';

const file = 'src/endpoints/forward.ts';
const tests = ['test/endpoints/forward.test.ts'];

export const forwarding: readonly Fault[] = [
  {
    name: 'a redirect takes the authorization along',
    file,
    find: "redirect: 'manual',",
    replace: "redirect: 'follow',",
    tests,
  },
  {
    name: 'an answer may be of any length',
    file,
    find: 'if (length > MAX_ANSWER_BYTES)',
    replace: 'if (length < 0)',
    tests,
  },
  {
    name: 'an answer that is no JSON counts as applied',
    file,
    find: "if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {",
    replace: "if (typeof answer === 'string') {",
    tests,
  },
  {
    name: 'any refusal of the endpoint’s is the caller’s',
    file,
    find: "if (same === undefined) return new Problem('mutate-endpoint-failed', 'The mutate endpoint failed');",
    replace: "if (same === undefined) return new Problem('malformed-request', 'The mutate endpoint failed');",
    tests,
  },
  {
    name: 'an endpoint may take as long as it likes',
    file,
    find: 'AbortSignal.timeout(options.timeoutMs ?? 30_000)',
    replace: 'AbortSignal.timeout(30_000)',
    tests,
  },
];
