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
  readonly 'There are two copies of @tanstack/db: `npm ls @tanstack/db` lists them. Uninstall your own, `npm uninstall @tanstack/db`, and import from the package for your framework, such as @tanstack/react-db': never;
}

type Own = CollectionImpl;

/** Demands nothing if there is one copy of `@tanstack/db`, and what nobody has if there are two. */
export type OneCopy = [Own, Own, Own, Own, Own] extends [OfAngular, OfReact, OfSolid, OfSvelte, OfVue]
  ? unknown
  : TwoCopiesOfTanStackDB;

/** The result; with two copies anything, so that the compiler complains of the copies first, and of little else. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type IfOneCopy<Result> = unknown extends OneCopy ? Result : any;
