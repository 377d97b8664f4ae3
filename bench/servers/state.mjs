/** Answers any message to a server under test with the resources that it uses. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The sampling interval of the event loop's delay, in milliseconds. */
const resolution = 1;

/**
 * If a message has `watch`, the next answer includes the longest time that the event loop was blocked in between.
 * @param {() => object} more additional properties of the answer
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
