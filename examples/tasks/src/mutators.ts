import { type ArgsOf, defineMutators } from 'tidemark';
import { list } from './list-mutators.js';
import { todo } from './todo-mutators.js';

/** What a user can do. Each call is one transaction. */
export const mutators = defineMutators({ list, todo });

/** What each mutator takes, by its name. */
export type Args = ArgsOf<typeof mutators>;
