/**
 * Postgres's own parser, as WebAssembly. In the package, the build has put a module in the place of this one that contains
 * it: the library reads a file beside its own, which is not there when an application is bundled.
 */
export { loadModule, parseSync } from 'libpg-query';
