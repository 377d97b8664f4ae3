/**
 * Postgres's own parser, as WebAssembly. In the package, the build replaces this module by one that contains the
 * WebAssembly, because the library reads it from a file that is missing when an application is bundled.
 */
export { loadModule, parseSync } from 'libpg-query';
