/** Reads and calls by code of the server poke, count and are recorded like those of REST callers. */
import { expect, it, vi } from 'vitest';
import { problemOf, setUpApplication } from './accessed.js';

const application = setUpApplication();
const as = (userID?: string) => application.server.as(userID);

it('calls poke the clients that see their effect', async () => {
  const pokes = vi.fn();
  const end = await application.server.sync.onPoke({ userID: 'ann' }, pokes);
  const others = vi.fn();
  const endOthers = await application.server.sync.onPoke({ userID: 'ben' }, others);
  await as().mutate.note.create({ id: 1 });
  await vi.waitFor(() => expect(pokes).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  await as().batch([{ name: 'note.create', args: { id: 2 } }]);
  await vi.waitFor(() => expect(pokes).toHaveBeenCalledTimes(3), { timeout: 10_000 });
  expect(others).toHaveBeenCalledOnce();
  end();
  endOthers();
});

it('the audit log has the same entries as for REST calls', async () => {
  const entries = async () => {
    const text = 'select user_id, mutator, outcome, request_id from tidemark.audit_log order by at, mutator';
    const { rows } = await application.database.pool.query<{ request_id: string }>(text);
    await application.database.pool.query('truncate note, tidemark.audit_log');
    return rows;
  };
  const calls = [{ name: 'note.create', args: { id: 2 } }, { name: 'driver' }] as const;
  await as().mutate.note.create({ id: 1 });
  await problemOf(as().mutate.note.refuse({ id: 3 }));
  await as().batch(calls);
  const ofCode = await entries();
  await application.server.send('/api/mutators/note/create', { id: 1 });
  await application.server.send('/api/mutators/note/refuse', { id: 3 });
  await application.server.send('/api/mutators', calls);
  const requestID = expect.stringMatching(/^[-\da-f]{36}$/);
  expect(ofCode).toEqual((await entries()).map((entry) => ({ ...entry, request_id: requestID })));
  expect(ofCode).toHaveLength(4);
  expect(application.server.lines.map(({ fields }) => fields.requestID)).toEqual(
    expect.arrayContaining(ofCode.map((entry) => entry.request_id)),
  );
});

it('each read and call is logged and measured', async () => {
  const { sync, lines, send } = await application.serve();
  const access = sync.as({ userID: 'ann' });
  await access.view('note').rows();
  await problemOf(access.mutate.note.refuse({ id: 3 }));
  await access.batch([{ name: 'note.create', args: { id: 4 } }, { name: 'driver' }]);
  expect(lines.filter(({ message }) => message === 'Request').map(({ fields }) => fields)).toEqual([
    { requestID: expect.any(String), view: 'note', status: 200, ms: expect.any(Number), pull: 'first' },
    {
      requestID: expect.any(String),
      mutator: 'note.refuse',
      status: 409,
      ms: expect.any(Number),
      code: 'mutator-error',
    },
    { requestID: expect.any(String), calls: 2, status: 200, ms: expect.any(Number) },
  ]);
  const metrics = await (await send('/metrics')).text();
  for (const series of [
    'tidemark_request_duration_seconds_count{route="as.views",status="200"} 1',
    'tidemark_request_duration_seconds_count{route="as.mutators",status="409"} 1',
    'tidemark_request_duration_seconds_count{route="as.mutators",status="200"} 1',
    'tidemark_pull_duration_seconds_count{kind="first",reason=""} 1',
    'tidemark_mutator_duration_seconds_count{mutator="note.refuse",outcome="refused"} 1',
  ]) {
    expect(metrics).toContain(series);
  }
  await sync.close();
});

it('reads and calls count towards the rate of their user', async () => {
  const { sync, send } = await application.serve({ rates: { perUser: 2 } });
  const access = sync.as({ userID: 'ann' });
  await access.view('note').rows();
  await access.mutate.driver();
  expect(await problemOf(access.view('note').rows())).toMatchObject({ code: 'too-many-requests', status: 429 });
  expect(await problemOf(access.mutate.driver())).toMatchObject({ code: 'too-many-requests' });
  expect((await send('/api/views/note')).status).toBe(429);
  await sync.as({ userID: 'ben' }).view('note').rows();
  await sync.close();
});
