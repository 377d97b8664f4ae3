/** What the OpenAPI document says about the application. */
export const info = {
  title: 'Tasks',
  version: '1.0.0',
  description:
    'Lists of todos that users share. Each call below changes them, as the same user would in the web application.',
  contact: { name: 'The Tidemark authors' },
  license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
};
