/** The results of mutators. Only REST callers receive them: sync clients receive the changes with their next pull. */
import { z } from 'zod';

export const filled = z
  .object({ added: z.int().describe('How many todos were added.') })
  .meta({ id: 'Filled', description: 'What was added to a list.' });

// Less strict than the args, so that todos written by SQL can be returned too.
export const todo = z
  .object({
    id: z.string(),
    listID: z.string().describe('The list it is in.'),
    title: z.string().describe('What to do.'),
    done: z.boolean().describe('Whether it is done.'),
    sort: z.number().describe('Its position in its list: todos are shown in ascending order.'),
  })
  .meta({ id: 'Todo', description: 'A todo as it is stored.' });
