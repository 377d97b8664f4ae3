/** A REST API below a prefix, whose only mutator records its calls. */
import { z } from 'zod';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { listen } from '../../../packages/tidemark/src/node.js';
import { defineMutators, mutatorFor } from '../../../packages/tidemark/src/registry/mutators.js';
import { createRest } from '../../../packages/tidemark/src/rest.js';
import { memoryLog } from '../../support/log.js';

interface Call {
  readonly userID: string;
  readonly args: unknown;
}

export interface DocsServer {
  readonly url: string;
  /** The calls so far, in order. */
  readonly calls: readonly Call[];
  close(): Promise<void>;
}

const info = {
  title: 'Tasks & more',
  version: '1.0.0',
  description:
    'Every mutator as a call. **Markdown** is shown, `code` too:\n\n```json\n{"ok":true}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |',
};

export async function startDocsServer(basePath: string): Promise<DocsServer> {
  const { log } = memoryLog();
  const calls: Call[] = [];
  const defineMutator = mutatorFor<UserContext, Call[]>();
  const create = defineMutator(
    z.object({ id: z.string(), listID: z.string(), title: z.string().max(200) }),
    ({ tx, args, ctx }) => {
      tx.push({ userID: ctx.userID, args });
      return { created: args };
    },
    {
      summary: 'Add a todo to a list',
      description: 'The ID must be **new**.',
      examples: {
        'A plain todo': { id: 't1', listID: 'home', title: 'Buy milk' },
        'Another one': { id: 't2', listID: 'home', title: 'Read a book' },
      },
    },
  );
  const rest = createRest<UserContext, Call[]>({
    mutators: defineMutators({ todo: { create } }),
    transact: (work) => work(calls),
    authenticate: (request) => {
      const userID = request.headers.get('Authorization')?.replace('Bearer ', '');
      return userID ? { userID } : null;
    },
    basePath,
    info,
    log,
  });
  const service = { ...rest, close: async () => {} };
  return { ...(await listen(service, { log, port: 0, hostname: '127.0.0.1', signals: false })), calls };
}
