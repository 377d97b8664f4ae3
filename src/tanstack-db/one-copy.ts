// biome-ignore-all lint/suspicious/noTsIgnore: where a package is installed, an expected error would be one
/**
 * Packages of TanStack DB for frameworks bring a version of `@tanstack/db` of their own. If the application has installed
 * another one, npm keeps both, and their types do not fit. The compiler's message about that is hundreds of lines long,
 * so the types here look for it first. A package that is not installed counts as one that fits.
 */

/** @ts-ignore It may not be installed. */
import type { CollectionImpl as OfAngular } from '@tanstack/angular-db';
import type { CollectionImpl } from '@tanstack/db';
/** @ts-ignore It may not be installed. */
import type { CollectionImpl as OfReact } from '@tanstack/react-db';
/** @ts-ignore It may not be installed. */
import type { CollectionImpl as OfSolid } from '@tanstack/solid-db';
/** @ts-ignore It may not be installed. */
import type { CollectionImpl as OfSvelte } from '@tanstack/svelte-db';
/** @ts-ignore It may not be installed. */
import type { CollectionImpl as OfVue } from '@tanstack/vue-db';

/** The name of its only field says what to do: the compiler prints it. */
export interface TwoCopiesOfTanStackDB {
  readonly 'There are two copies of @tanstack/db, which `npm ls @tanstack/db` lists. Uninstall all packages of TanStack DB, then install the one for your framework alone, such as @tanstack/react-db, and import from there': never;
}

/** As left by `npm uninstall @tanstack/db`, which does not move the other copy. */
export interface NoCopyOfTanStackDB {
  readonly 'Tidemark finds no copy of @tanstack/db. Uninstall all packages of TanStack DB, then install the one for your framework again, such as @tanstack/react-db': never;
}

/** Any if it is not found. */
type Own = CollectionImpl;

/** Demands nothing if there is one copy of `@tanstack/db`, and otherwise what no config has. */
export type OneCopy = [0] extends [1 & Own]
  ? NoCopyOfTanStackDB
  : [Own, Own, Own, Own, Own] extends [OfAngular, OfReact, OfSolid, OfSvelte, OfVue]
    ? unknown
    : TwoCopiesOfTanStackDB;

/** The result; without one copy anything, so that the compiler complains of that first, and of little else. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type IfOneCopy<Result> = unknown extends OneCopy ? Result : any;
