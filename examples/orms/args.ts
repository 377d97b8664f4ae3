/** The args of the mutators of all these examples. */
import { z } from 'zod';

const id = z.string().min(1);
const todo = z.object({
  id,
  title: z.string(),
  dueAt: z.iso.datetime({ offset: true }).optional(),
  price: z
    .string()
    .regex(/^\d+(\.\d\d)?$/)
    .optional(),
});

export const createList = z.object({ id, name: z.string() });
export const createTodo = todo.extend({ listId: id });
export const visitTodo = z.object({ id });
export const importTodos = z.object({ listId: id, todos: z.array(todo) });
