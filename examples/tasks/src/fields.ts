/** The fields of the mutators' args. Each refuses what its column would refuse. */
import { z } from 'zod';
import { userName } from './auth.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the one character that Postgres cannot store in text
const withoutNull = /^[^\x00]*$/;

const text = (max: number) =>
  z.string().max(max).regex(withoutNull, { error: 'Invalid string: must not contain U+0000' });

const newID = 'The creator chooses the ID, such as a random UUID.';

export const listID = text(100)
  .min(1)
  .meta({ id: 'ListID', description: `The ID of a list. ${newID}`, examples: ['ann-home'] });

export const todoID = text(100)
  .min(1)
  .meta({ id: 'TodoID', description: `The ID of a todo. ${newID}`, examples: ['ann-home-1'] });

export const userID = z
  .string()
  .regex(userName)
  .meta({ id: 'UserID', description: 'The name of a user, in lower case.', examples: ['cam'] });

/**
 * The checks for the length and for a non-whitespace character come before `trim`, so that a JSON Schema can express
 * them.
 */
export const name = text(200)
  .regex(/\S/, { error: 'Invalid string: must contain more than white space' })
  .trim()
  .meta({ description: 'The name of the list. Surrounding white space is removed.', examples: ['Groceries'] });

export const title = text(1000).meta({ description: 'What to do. May be empty.', examples: ['Buy a lamp'] });

export const done = z.boolean().meta({ description: 'Whether the todo is done.', examples: [true] });

/** Any finite double, as in its column: `z.number()` accepts neither NaN nor infinity. */
export const sort = z.number().meta({
  description: "The todo's position in its list: todos are shown in ascending order. A fraction fits between any two.",
  examples: [1.5],
});
