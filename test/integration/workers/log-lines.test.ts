/** The log of several processes in one pipe. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { builtServer, root } from '../../support/built.js';

const turns = 20;
const lines = 500;
const script = `
  import { jsonLog } from '${pathToFileURL(`${builtServer}/log.js`)}';
  const log = jsonLog();
  for (let turn = 0; turn < ${turns}; turn++) {
    for (let i = 0; i < ${lines}; i++) log.info({ turn, i, text: 'é'.repeat(150) }, 'line');
    await new Promise(setImmediate);
  }`;

it('log lines of processes that write at the same time do not mix', async () => {
  const command = '"$NODE" --input-type=module -e "$SCRIPT" & "$NODE" --input-type=module -e "$SCRIPT" & wait';
  const env = { ...process.env, NODE: process.execPath, SCRIPT: script };
  const { stdout } = spawn('sh', ['-c', command], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const seen = new Map<number, number>();
  for await (const line of createInterface({ input: stdout })) {
    const { pid } = JSON.parse(line) as { pid: number };
    seen.set(pid, (seen.get(pid) ?? 0) + 1);
  }
  expect([...seen.values()]).toEqual([turns * lines, turns * lines]);
});
