import { type ArgsOf, defineMutators } from 'tidemark';
import { list } from './list-mutators.js';
import { todo } from './todo-mutators.js';

/** Everything that a user can do. Each call is one transaction. */
export const mutators = defineMutators({ list, todo });

/** The types of the args, by the mutators' names. */
export type Args = ArgsOf<typeof mutators>;
