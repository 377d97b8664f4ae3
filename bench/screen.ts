/**
 * Measures the time from a commit to the screen: Chromium shows the example, served by one of two nodes.
 *
 *   npm run bench -- screen               60 samples of each, about two minutes
 *   npm run bench -- screen --samples 10  a smoke run
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Locator } from 'playwright-core';
import { findChromium, howToGetChromium } from '../test/e2e/browser/chromium.js';
import { startDemo } from '../test/e2e/browser/demo.js';
import { startExample } from '../test/e2e/example/example.js';
import { pusher, sqlWriter, type Writer, watched } from './screen/writers.js';
import { inTurns, quantile } from './statistics.js';

const { values: options } = parseArgs({ options: { samples: { type: 'string', default: '60' } } });

interface Sample {
  /** Milliseconds since just after the response to the write. Negative if the screen was faster than the response. */
  readonly sinceAnswer: number;
  /** Milliseconds since just before the write was sent. */
  readonly sinceSent: number;
}

let writes = 0;

/** Writes once, and waits until the browser has drawn the change. */
async function sample(todos: Locator, write: Writer): Promise<Sample> {
  const title = `Written ${++writes}.`;
  const screen = await todos.evaluateHandle(
    (list, wanted) => ({
      drawn: new Promise<number>((resolve) => {
        const observer = new MutationObserver(() => {
          if (!list.textContent?.includes(wanted)) return;
          observer.disconnect();
          requestAnimationFrame(() => {
            // The first task after a frame's callbacks runs when the frame has been drawn.
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => resolve(Date.now());
            port2.postMessage(null);
          });
        });
        observer.observe(list, { subtree: true, childList: true, characterData: true });
      }),
    }),
    title,
  );
  // At a random time, so that it does not coincide with periodic work.
  await sleep(100 + Math.random() * 200);
  const { before, after } = await write(title);
  const drawn = await screen.evaluate((watch) => watch.drawn);
  await screen.dispose();
  return { sinceAnswer: drawn - after, sinceSent: drawn - before };
}

function printSamples(samples: Readonly<Record<string, readonly Sample[]>>): void {
  const row = (name: string, ...cells: readonly (number | string)[]) =>
    console.log(name.padEnd(30) + cells.map((cell) => String(cell).padStart(11)).join(''));
  console.log(`
From a write to the screen, in milliseconds, ${options.samples} samples of each.
"answer" counts from when the writer had its answer, so from after the commit; "sent" from before the writer sent it.
Both end when the browser has drawn the frame. One machine, one clock, read to the millisecond.
`);
  row('', 'answer', '', 'sent', '');
  row('', 'median', 'p95', 'median', 'p95');
  for (const [name, all] of Object.entries(samples)) {
    const columns = [all.map(({ sinceAnswer }) => sinceAnswer), all.map(({ sinceSent }) => sinceSent)];
    row(name, ...columns.flatMap((column) => [quantile(column, 0.5), quantile(column, 0.95)]));
  }
}

const chromium = findChromium();
if (!chromium) {
  console.error(`This needs a browser: ${howToGetChromium}.`);
  process.exit(1);
}
const demo = await startDemo(chromium);
const stops = [() => demo.stop()];
try {
  const { url, database } = demo.example;
  const other = await startExample({ DATABASE_URL: database });
  stops.unshift(async () => void (await other.stop()));
  const sql = await sqlWriter(database);
  stops.unshift(() => sql.end());
  const { list, todos } = await (await demo.profile()).app('ann');
  await list(watched.list).click();
  await todos.getByRole('listitem').first().waitFor();
  const writers: Readonly<Record<string, Writer>> = {
    'push to the same node': pusher(url),
    'push to the other node': pusher(other.url),
    SQL: sql.write,
  };
  const contenders = Object.fromEntries(
    Object.entries(writers).map(([name, write]) => [name, () => sample(todos, write)]),
  );
  // A warm-up.
  await inTurns(1, contenders);
  printSamples(await inTurns(Number(options.samples), contenders));
} finally {
  for (const stop of stops) await stop();
}
