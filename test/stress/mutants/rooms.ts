/** A part of the sources that decides without I/O, and the tests that must detect any change to it. */
export interface Part {
  readonly name: string;
  /** Globs, in Stryker's syntax. */
  readonly sources: readonly string[];
  /** Globs, in Vitest's syntax. */
  readonly tests: readonly string[];
  /** Tests that are slow or rarely detect what others do not. They run last, if no other test has detected a mutant. */
  readonly slow?: RegExp;
  /**
   * Leaves out code that runs when a module is loaded. Any test might detect a change to it, so all would have to run.
   */
  readonly ignoresStatic?: boolean;
}

export const parts: readonly Part[] = [
  // Stryker's instrumentation makes the sources too slow for the tests of long inputs.
  { name: 'protocol', sources: ['src/protocol/*.ts'], tests: ['src/protocol/!(long-*).test.ts'] },
  {
    name: 'plans',
    sources: [
      'src/pulls/plan.ts',
      'src/change-log/coalesce.ts',
      'src/pokes/{plan-pokes,poll-schedule}.ts',
      'src/workers/plan.ts',
    ],
    tests: [
      'src/{pulls,workers}/plan.test.ts',
      'src/change-log/coalesce.test.ts',
      'src/pokes/{plan-pokes,poll-schedule}.test.ts',
    ],
  },
  { name: 'registry', sources: ['src/registry/*.ts'], tests: ['src/registry/*.test.ts'] },
  {
    name: 'openapi',
    sources: ['src/openapi/**/*.ts'],
    // Without the tests that read the document with other programs, which is slow.
    tests: ['{src,test/integration}/openapi/**/!(lint|typed-*).test.ts'],
    ignoresStatic: true,
  },
  {
    name: 'http',
    // Without streams on sockets, because their mutants hang more often than they fail.
    sources: ['src/{http,endpoints}/**/*.ts', '!src/**/{poke-streams,stream,forward}.ts'],
    tests: [
      '{src,test/integration}/{http,endpoints}/{app,body,call-headers,docs-page,poke-requests}.test.ts',
      'test/integration/rest/{batch,bytes,calls,discovery,idempotency}.test.ts',
    ],
    slow: /\/rest\//,
    ignoresStatic: true,
  },
  {
    name: 'view/parse',
    sources: ['src/view/parse/*.ts'],
    tests: ['src/view/**/{deparse,nodes,rewrite,scopes,syntax,tree}.test.ts'],
    ignoresStatic: true,
  },
  {
    name: 'view/determinism',
    sources: ['src/view/determinism/*.ts'],
    tests: ['test/integration/view/{alike,deterministic-*}.test.ts'],
    slow: /alike/,
    ignoresStatic: true,
  },
  {
    name: 'view/analysis',
    sources: ['src/view/analysis/*.ts'],
    tests: [
      'src/view/**/{meaning,query-tree}.test.ts',
      'test/integration/view/{alike,deterministic-*,stability}.test.ts',
    ],
    slow: /deterministic/,
    ignoresStatic: true,
  },
  {
    name: 'view',
    sources: ['src/view/*.ts', 'src/view/compile/*.ts'],
    tests: ['src/view/**/*.test.ts', 'test/integration/view/*.test.ts'],
    slow: /\/(alike|deterministic|stability)/,
    ignoresStatic: true,
  },
];
