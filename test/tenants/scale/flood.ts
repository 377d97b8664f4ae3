/** When it is told to, floods a tenant with pulls, over many connections and without a pause, until it is told so again. */

import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, Refusal } from '../../../bench/client/connection.js';
import { pullBody } from '../tenanted.js';

// It must not take the processor from the server and from those who measure.
setPriority(constants.priority.PRIORITY_LOW);

/** How long the end waits for requests that are under way, in milliseconds. */
const patienceMs = 5_000;

const [url, tenant] = [process.env.DATABASE_URL!, process.env.TENANT!];
const answers: Record<string, number> = {};
let isOn = false;
let underWay = 0;
let begin = () => {};
let beginning = begun();

const opening = Array.from({ length: Number(process.env.CONNECTIONS) }, () => Connection.open(url));
const connections = await Promise.all(opening);

async function flood(connection: Connection, i: number): Promise<void> {
  const body = JSON.stringify({ ...pullBody, clientGroupID: `group ${i}` });
  const headers = `X-Tenant: ${tenant}\r\n`;
  for (;;) {
    await beginning;
    underWay++;
    const status = await connection.post('/sync/pull', `user ${i % 50}`, body, { headers }).then(
      () => 'served',
      (error: unknown) => (error instanceof Refusal ? 'refused' : 'failed'),
    );
    underWay--;
    answers[status] = (answers[status] ?? 0) + 1;
    // The connection is gone.
    if (status === 'failed') return;
  }
}
connections.forEach(flood);

/** What `begin` resolves. */
function begun(): Promise<void> {
  return new Promise((resolve) => {
    begin = resolve;
  });
}

process.on('message', async () => {
  isOn = !isOn;
  if (isOn) {
    begin();
  } else {
    beginning = begun();
    for (let waitedMs = 0; underWay > 0 && waitedMs < patienceMs; waitedMs += 100) await sleep(100);
  }
  process.send!(answers);
});
process.on('disconnect', () => process.exit());
process.send!({ url });
