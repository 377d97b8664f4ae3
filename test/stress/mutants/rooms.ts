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
  {
    name: 'protocol',
    sources: ['packages/tidemark/src/protocol/*.ts'],
    tests: ['packages/tidemark/src/protocol/!(long-*).test.ts'],
  },
  {
    name: 'plans',
    sources: [
      'packages/tidemark/src/pulls/plan.ts',
      'packages/tidemark/src/change-log/coalesce.ts',
      'packages/tidemark/src/pokes/{plan-pokes,poll-schedule}.ts',
      'packages/tidemark/src/workers/plan.ts',
    ],
    tests: [
      'packages/tidemark/src/{pulls,workers}/plan.test.ts',
      'packages/tidemark/src/change-log/coalesce.test.ts',
      'packages/tidemark/src/pokes/{plan-pokes,poll-schedule}.test.ts',
    ],
  },
  {
    name: 'registry',
    sources: ['packages/tidemark/src/registry/*.ts'],
    tests: ['packages/tidemark/src/registry/*.test.ts'],
  },
  {
    name: 'openapi',
    sources: ['packages/tidemark/src/openapi/**/*.ts'],
    // Without the tests that read the document with other programs, which is slow.
    tests: ['{packages/tidemark/src,test/integration}/openapi/**/!(lint.long|typed-*).test.ts'],
    ignoresStatic: true,
  },
  {
    name: 'http',
    // Without streams on sockets, because their mutants hang more often than they fail.
    sources: [
      'packages/tidemark/src/{http,endpoints}/**/*.ts',
      '!packages/tidemark/src/**/{poke-streams,stream,forward}.ts',
    ],
    tests: [
      '{packages/tidemark/src,test/integration}/{http,endpoints}/{app,body,call-headers,docs-page,poke-requests}.test.ts',
      'test/integration/rest/{batch,bytes,calls,discovery,idempotency}.test.ts',
    ],
    slow: /\/rest\//,
    ignoresStatic: true,
  },
  {
    name: 'view/parse',
    sources: ['packages/tidemark/src/view/parse/*.ts'],
    tests: ['packages/tidemark/src/view/**/{deparse,nodes,rewrite,scopes,syntax,tree}.test.ts'],
    ignoresStatic: true,
  },
  {
    name: 'view/determinism',
    sources: ['packages/tidemark/src/view/determinism/*.ts'],
    tests: ['test/integration/view/{alike,deterministic-*}.test.ts'],
    slow: /alike/,
    ignoresStatic: true,
  },
  {
    name: 'view/analysis',
    sources: ['packages/tidemark/src/view/analysis/**/*.ts'],
    tests: [
      'packages/tidemark/src/view/**/{meaning,query-tree}.test.ts',
      'test/integration/view/{alike,deterministic-*,stability}.test.ts',
    ],
    slow: /deterministic/,
    ignoresStatic: true,
  },
  {
    name: 'view',
    sources: ['packages/tidemark/src/view/*.ts', 'packages/tidemark/src/view/compile/*.ts'],
    tests: ['packages/tidemark/src/view/**/*.test.ts', 'test/integration/view/*.test.ts'],
    slow: /\/(alike|deterministic|stability)/,
    ignoresStatic: true,
  },
];
