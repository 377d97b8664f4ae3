/** The application's description in the OpenAPI document. */
export const info = {
  title: 'Tasks',
  version: '1.0.0',
  description: 'Todo lists that users share. Each call below does what the same user could do in the web application.',
  contact: { name: 'The Tidemark authors' },
  license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
};
