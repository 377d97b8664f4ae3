/** Has a server under test answer any message with what it takes of the machine. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** In milliseconds: how finely the event loop is watched. */
const resolution = 1;

/**
 * If a message says `watch`, the answer to the next one also says for how long the event loop was blocked in between, at
 * most.
 * @param {() => object} more what else it answers
 */
export function answerWithState(more = () => ({})) {
  const loop = monitorEventLoopDelay({ resolution });
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  process.on('message', ({ watch = false }) => {
    const blockedMs = Math.max(0, loop.max / 1e6 - resolution);
    loop.disable();
    collectGarbage();
    const { user, system } = process.cpuUsage();
    const sockets = process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
    const { rss, heapUsed } = process.memoryUsage();
    const state = { rssMB: rss / 2 ** 20, heapMB: heapUsed / 2 ** 20, cpuMs: (user + system) / 1000, sockets };
    loop.reset();
    if (watch) loop.enable();
    process.send?.({ ...state, blockedMs, ...more() });
  });
  process.on('disconnect', () => process.exit(0));
}
