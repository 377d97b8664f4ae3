// biome-ignore-all lint/suspicious/noTsIgnore: where a package is installed, ts-expect-error would be an error
/**
 * TanStack DB's packages for frameworks depend on their own version of `@tanstack/db`. If the application has installed
 * another one, npm keeps both, and their types are incompatible. The compiler's message about that is hundreds of lines
 * long, so these types detect it first. A package that is not installed counts as compatible.
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

/** The compiler prints the name of the only field, which says what to do. */
export interface TwoCopiesOfTanStackDB {
  readonly 'There are two copies of @tanstack/db, which `npm ls @tanstack/db` lists. Uninstall all packages of TanStack DB, then install the one for your framework alone, such as @tanstack/react-db, and import from there': never;
}

/** The state after `npm uninstall @tanstack/db`, which does not move the other copy. */
export interface NoCopyOfTanStackDB {
  readonly 'Tidemark finds no copy of @tanstack/db. Uninstall all packages of TanStack DB, then install the one for your framework again, such as @tanstack/react-db': never;
}

/** `any` if `@tanstack/db` is not found. */
type CoreCollection = CollectionImpl;

/** Requires nothing if there is one copy of `@tanstack/db`, and otherwise a field that no config has. */
export type OneCopy = [0] extends [1 & CoreCollection]
  ? NoCopyOfTanStackDB
  : [CoreCollection, CoreCollection, CoreCollection, CoreCollection, CoreCollection] extends [
        OfAngular,
        OfReact,
        OfSolid,
        OfSvelte,
        OfVue,
      ]
    ? unknown
    : TwoCopiesOfTanStackDB;

/** The result; `any` unless there is exactly one copy, so that the compiler reports that and little else. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type IfOneCopy<Result> = unknown extends OneCopy ? Result : any;
