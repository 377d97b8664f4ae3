/** When it is told to, floods a tenant with pulls, over many connections and without a pause, until it is told to end. */

import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../../bench/client/connection.js';
import { pullBody } from '../tenanted.js';

// It must not take the processor from the server and from those who measure.
setPriority(constants.priority.PRIORITY_LOW);

const [url, tenant] = [process.env.DATABASE_URL!, process.env.TENANT!];
const answers: Record<string, number> = {};
let isOver = false;
let flooding: Promise<void>[] | undefined;

const opening = Array.from({ length: Number(process.env.CONNECTIONS) }, () => Connection.open(url));
const connections = await Promise.all(opening);

async function flood(connection: Connection, i: number): Promise<void> {
  const body = JSON.stringify({ ...pullBody, clientGroupID: `group ${i}` });
  const headers = `X-Tenant: ${tenant}\r\n`;
  while (!isOver) {
    const status = await connection.post('/sync/pull', `user ${i % 50}`, body, { headers }).then(
      () => 'served',
      () => 'refused',
    );
    answers[status] = (answers[status] ?? 0) + 1;
  }
  connection.close();
}

process.on('message', async () => {
  if (!flooding) {
    flooding = connections.map(flood);
    return process.send!({});
  }
  isOver = true;
  await Promise.race([Promise.all(flooding), sleep(5_000)]);
  process.send!(answers);
});
process.on('disconnect', () => process.exit());
process.send!({ url });
