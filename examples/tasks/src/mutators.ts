import { defineMutators, type Mutators } from 'tidemark';
import { list } from './list-mutators.js';
import { todo } from './todo-mutators.js';

/** What a user can do. Each call is one transaction. */
export const mutators: Mutators = defineMutators({ list, todo });
