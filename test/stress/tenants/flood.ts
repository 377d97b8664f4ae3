/**
 * On a message, floods a tenant with pulls over many connections and without pauses, until the next message. Then it
 * closes these connections, and opens others for the next time.
 */
import { constants, setPriority } from 'node:os';
import { Connection, Refusal } from '../../../bench/client/connection.js';
import { pullBody } from '../../integration/tenants/tenanted.js';

// Must not take the processor from the server and from the measuring processes.
setPriority(constants.priority.PRIORITY_LOW);

const [url, tenant] = [process.env.DATABASE_URL!, process.env.TENANT!];
const count = Number(process.env.CONNECTIONS);
const answers: Record<string, number> = {};
let isOn = false;
let connections = await open();

function open(): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(url)));
}

/** Runs until the connection is closed. */
async function flood(connection: Connection, i: number): Promise<void> {
  const body = JSON.stringify({ ...pullBody, clientGroupID: `group ${i}` });
  const headers = `X-Tenant: ${tenant}\r\n`;
  for (;;) {
    const status = await connection.post('/sync/pull', `user ${i % 50}`, body, { headers }).then(
      () => 'served',
      (error: unknown) => (error instanceof Refusal ? 'refused' : 'failed'),
    );
    answers[status] = (answers[status] ?? 0) + 1;
    if (status === 'failed') return;
  }
}

process.on('message', async () => {
  isOn = !isOn;
  if (isOn) {
    connections.forEach(flood);
  } else {
    for (const connection of connections) connection.close();
    connections = await open();
  }
  process.send!(answers);
});
process.on('disconnect', () => process.exit());
process.send!({ url });
