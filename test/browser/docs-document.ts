/** An OpenAPI document as that of a small application: all that the documentation page has to show. */
const problem = {
  description: 'Refused',
  content: {
    'application/problem+json': {
      schema: { type: 'object', properties: { code: { type: 'string' }, detail: { type: 'string' } } },
    },
  },
};

const operation = (name: string, summary: string, description: string, more: object = {}) => ({
  operationId: name,
  tags: [name.split('.')[0]],
  summary,
  description,
  security: [{ bearer: [] }],
  parameters: [
    { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } },
    { name: 'Prefer', in: 'header', required: false, schema: { type: 'string', enum: ['tx=rollback'] } },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: { id: { type: 'string' }, listID: { type: 'string' }, title: { type: 'string', maxLength: 200 } },
          required: ['id', 'listID', 'title'],
          additionalProperties: false,
        },
        examples: {
          plain: { summary: 'A plain todo', value: { id: 't1', listID: 'home', title: 'Buy milk' } },
          long: { summary: 'Another one', value: { id: 't2', listID: 'home', title: 'Read a book' } },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'Done',
      content: { 'application/json': { schema: { type: 'object', properties: { ok: { const: true }, result: {} } } } },
    },
    401: problem,
    422: problem,
  },
  ...more,
});

export const document = {
  openapi: '3.1.0',
  info: {
    title: 'Tasks & more',
    version: '1.0.0',
    description:
      'Every mutator as a call. **Markdown** is shown, `code` too:\n\n```json\n{"ok":true}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |',
  },
  servers: [{ url: '..' }],
  tags: [{ name: 'todo', description: 'Todos' }],
  paths: {
    '/api/mutators/todo/create': {
      post: operation('todo.create', 'Add a todo to a list', 'The ID must be **new**.'),
    },
    '/api/mutators/todo/delete': {
      post: operation('todo.delete', 'Delete a todo', 'It is gone for good.', { deprecated: true }),
    },
  },
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
};
