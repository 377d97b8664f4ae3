/** Serves the files of a page beside a sync. */
import type { Sync } from '../../../packages/tidemark/src/index.js';
import type { Logger } from '../../../packages/tidemark/src/log.js';
import { type Listening, listen } from '../../../packages/tidemark/src/node.js';

/** The text and the media type of each file, by path. */
export type ServedFiles = Readonly<Record<string, readonly [text: string, type: string]>>;

export function listenWithFiles(sync: Sync, files: ServedFiles, log: Logger): Promise<Listening> {
  const fetch = async (request: Request) => {
    const [text, type] = files[new URL(request.url).pathname] ?? [];
    return type ? new Response(text!, { headers: { 'Content-Type': type } }) : sync.fetch(request);
  };
  return listen({ ...sync, fetch }, { log, port: 0, hostname: '127.0.0.1', signals: false, drainMs: 500 });
}
