/** Has a server under test answer any message with what it takes of the machine. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** @param {() => object} more what else it answers */
export function answerWithState(more = () => ({})) {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  process.on('message', () => {
    collectGarbage();
    const { user, system } = process.cpuUsage();
    const sockets = process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
    const { rss, heapUsed } = process.memoryUsage();
    const state = { rssMB: rss / 2 ** 20, heapMB: heapUsed / 2 ** 20, cpuMs: (user + system) / 1000, sockets };
    process.send?.({ ...state, ...more() });
  });
  process.on('disconnect', () => process.exit(0));
}
