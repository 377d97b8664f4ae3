/** A part of the sources that decides without asking anybody, and the tests that are to notice any change of it. */
export interface Room {
  readonly name: string;
  /** Globs, as Stryker takes them. */
  readonly sources: readonly string[];
  /** Globs, as Vitest takes them. */
  readonly tests: readonly string[];
  /**
   * Of the tests, those that take long or seldom notice what others do not: they run last, where no other has noticed a
   * mutant.
   */
  readonly slow?: RegExp;
  /**
   * What runs as a module is loaded is left as it is: any test might notice a change of it, so all would have to run.
   */
  readonly ignoresStatic?: boolean;
}

export const rooms: readonly Room[] = [
  // What Stryker adds to the sources makes them too slow for the tests of what is long.
  { name: 'protocol', sources: ['src/protocol/*.ts'], tests: ['src/protocol/!(long-*).test.ts'] },
  {
    name: 'plans',
    sources: ['src/pulls/{plan,coalesce}.ts', 'src/pokes/{plan-pokes,look-times}.ts', 'src/workers/plan.ts'],
    tests: [
      'src/{pulls,workers}/plan.test.ts',
      'src/window/coalesce.test.ts',
      'src/pokes/{plan-pokes,look-times}.test.ts',
    ],
  },
  { name: 'registry', sources: ['src/registry/*.ts'], tests: ['src/registry/*.test.ts'] },
  {
    name: 'openapi',
    sources: ['src/openapi/**/*.ts'],
    // Those left out read the document by other programs, which takes long.
    tests: ['{src,test/integration}/openapi/**/!(lint|typed-*).test.ts'],
    ignoresStatic: true,
  },
  {
    name: 'http',
    // What is left out are streams on sockets: a mutant of theirs hangs more often than it fails.
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
    name: 'view/settle',
    sources: ['src/view/settle/*.ts'],
    tests: ['test/integration/view/{alike,settled-*}.test.ts'],
    slow: /alike/,
    ignoresStatic: true,
  },
  {
    name: 'view/analysis',
    sources: ['src/view/analysis/*.ts'],
    tests: ['src/view/**/{meaning,query-tree}.test.ts', 'test/integration/view/{alike,settled-*,stability}.test.ts'],
    slow: /settled/,
    ignoresStatic: true,
  },
  {
    name: 'view',
    sources: ['src/view/*.ts', 'src/view/compile/*.ts'],
    tests: ['src/view/**/*.test.ts', 'test/integration/view/*.test.ts'],
    slow: /\/(alike|settled|stability)/,
    ignoresStatic: true,
  },
];
