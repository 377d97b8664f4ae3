/**
 * A server in memory that speaks the protocol of wants. Its views are the projects, which all clients have, and the issues
 * of a project, which is the argument.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Issue {
  readonly id: string;
  readonly projectID: string;
  readonly title: string;
}

interface Want {
  readonly view: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface PullBody {
  readonly cookie: { readonly order: number } | null;
  readonly wants: readonly Want[];
  readonly stages: boolean;
}

interface PushBody {
  readonly mutations: readonly { readonly clientID: string; readonly id: number; readonly args: Issue }[];
}

/** The data of a client with a certain cookie. */
interface Known {
  readonly entries: ReadonlyMap<string, unknown>;
  readonly lastMutationIDs: Readonly<Record<string, number>>;
  readonly projectIDs: string;
}

export async function serveWants() {
  const issues = new Map<string, Issue>();
  const refusals = new Map<string, object>();
  const known: Known[] = [];
  let lastMutationIDs: Readonly<Record<string, number>> = {};
  const pulls: PullBody[] = [];
  const pokes: { readonly method: string; readonly wants: readonly Want[]; readonly response: ServerResponse }[] = [];
  const server = {
    url: '',
    issues,
    /** The bodies of all pulls. */
    pulls,
    /** The requests for streams of pokes. */
    pokes,
    /** False if a stream of pokes begins without one. */
    pokesFirst: true,
    /** The name of the only project. */
    projectName: 'Garden',
    /** The next pull waits for this, and is then answered from the data at that time. */
    beforePull: undefined as Promise<void> | undefined,
    /** True while a standby cannot answer. */
    isBehind: false,
    /** The views that the first pulls leave out. */
    laterViews: [] as string[],
    /** Returns the code with which a want is refused. */
    refuse: (_: Want): string | undefined => undefined,
    /** Returns the projects whose issues the pulls want, one list for each pull. */
    wanted: () => pulls.map(({ wants }) => wants.map(({ args }) => args.projectID)),
    poke() {
      for (const { response } of pokes) response.write('data: poke\n\n');
    },
  };

  function pull({ cookie, wants }: PullBody): object {
    if (server.isBehind) return { cookie, lastMutationIDChanges: {}, patch: [], behind: true };
    const refusedWants = wants.flatMap((want) => {
      const code = server.refuse(want);
      return code ? [{ ...want, code, message: 'It is not possible' }] : [];
    });
    const laterViews = server.laterViews.splice(0);
    const served = wants.filter((want) => !server.refuse(want) && !laterViews.includes(want.view));
    const projectIDs = new Set(served.map(({ args }) => String(args.projectID)));
    const entries = new Map<string, unknown>(refusals);
    if (!laterViews.includes('project')) entries.set('project/1', { id: '1', name: server.projectName });
    for (const issue of issues.values()) if (projectIDs.has(issue.projectID)) entries.set(`issue/${issue.id}`, issue);
    const now: Known = { entries, lastMutationIDs, projectIDs: [...projectIDs].sort().join() };
    const before = cookie && known[cookie.order];
    const told = { ...(refusedWants.length > 0 && { refusedWants }), ...(laterViews.length > 0 && { laterViews }) };
    if (before && JSON.stringify(flat(before)) === JSON.stringify(flat(now))) {
      return { cookie, lastMutationIDChanges: {}, patch: [], ...told };
    }
    const patch: object[] = before ? [] : [{ op: 'clear' }];
    for (const key of before?.entries.keys() ?? []) if (!entries.has(key)) patch.push({ op: 'del', key });
    for (const [key, value] of entries) {
      if (JSON.stringify(before?.entries.get(key)) !== JSON.stringify(value)) patch.push({ op: 'put', key, value });
    }
    known.push(now);
    return { cookie: { order: known.length - 1 }, lastMutationIDChanges: lastMutationIDs, patch, ...told };
  }

  function push({ mutations }: PushBody): object {
    for (const { clientID, id, args } of mutations) {
      if (id <= (lastMutationIDs[clientID] ?? 0)) continue;
      lastMutationIDs = { ...lastMutationIDs, [clientID]: id };
      if (args.title) issues.set(args.id, args);
      else refusals.set(`tidemark/refused/${clientID}/${id}`, refusalOf(clientID, id));
    }
    server.poke();
    return {};
  }

  const http = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://a').pathname;
    const text = await textOf(request);
    if (path === '/sync/poke') {
      const { wants = [] } = (text ? JSON.parse(text) : {}) as { wants?: readonly Want[] };
      pokes.push({ method: request.method!, wants, response });
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 10\n\n');
      if (server.pokesFirst) response.write('data: poke\n\n');
      return;
    }
    const body = JSON.parse(text);
    if (path === '/sync/pull') {
      pulls.push(body);
      const { beforePull } = server;
      server.beforePull = undefined;
      await beforePull;
    }
    const answer = path === '/sync/pull' ? pull(body) : push(body);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close().closeAllConnections());
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return server;
}

function flat({ entries, lastMutationIDs, projectIDs }: Known): unknown {
  return [[...entries], lastMutationIDs, projectIDs];
}

function refusalOf(clientID: string, mutationID: number): object {
  const at = '2026-03-01T00:00:00Z';
  return { clientID, mutationID, name: 'issue.create', code: 'mutator-error', detail: 'A title is missing', at };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
