import { expect, it } from 'vitest';
import { type Action, WorkerPlan } from './plan.js';

const killed = 'A worker ended by itself (signal SIGKILL).';
const minute = 60_000;

/** Abbreviates actions to what the tests check. */
function brief(actions: readonly Action[]): string[] {
  return actions.map((action) => {
    switch (action.do) {
      case 'start':
        return `start ${action.process} as worker ${action.worker}`;
      case 'wait':
        return `wait ${action.ms} for worker ${action.worker}`;
      case 'end':
        return `end ${action.process}`;
      case 'give up':
        return `give up: ${action.reason}`;
      case 'log':
        return `${action.level}: ${action.message}`;
      default:
        return action.do;
    }
  });
}

/** Returns a plan with two workers that serve, as processes 1 and 2. */
function twoServing(): WorkerPlan {
  const plan = new WorkerPlan(2);
  plan.begin();
  plan.ready(1, 0);
  plan.ready(2, 0);
  return plan;
}

it('starts the first worker alone, then the others, and listens when all serve', () => {
  const plan = new WorkerPlan(3);
  expect(brief(plan.begin())).toEqual(['start 1 as worker 1']);
  expect(brief(plan.ready(1, 0))).toEqual(['start 2 as worker 2', 'start 3 as worker 3']);
  expect(brief(plan.ready(3, 0))).toEqual([]);
  expect(brief(plan.ready(2, 0))).toEqual(['listen']);
  const alone = new WorkerPlan(1);
  alone.begin();
  expect(brief(alone.ready(1, 0))).toEqual(['listen']);
});

it('listens without a later worker that cannot start', () => {
  const plan = new WorkerPlan(2);
  plan.begin();
  plan.ready(1, 0);
  expect(brief(plan.ended(2, 'No.', 0))).toEqual([
    'warn: No.\nStarting worker 2 again.',
    'start 3 as worker 2',
    'listen',
  ]);
  expect(brief(plan.ready(3, 0))).toEqual([]);
});

it('gives up if the first worker cannot start, and replaces nothing before it serves', () => {
  const plan = new WorkerPlan(2);
  plan.begin();
  expect(plan.replace()).toEqual([]);
  expect(brief(plan.ended(1, 'Set PORT.', 0))).toEqual(['give up: Set PORT.']);
});

it('always restarts a worker, each time after a longer pause', () => {
  const plan = twoServing();
  const pauses: string[] = [];
  let process = 2;
  for (let death = 1; death <= 7; death++) {
    const [logged, next] = brief(plan.ended(process, killed, 1_000));
    pauses.push(logged!.replace(`warn: ${killed}\nStarting worker 2 again`, ''));
    if (next!.startsWith('wait')) expect(brief(plan.resume(2))).toEqual([`start ${process + 1} as worker 2`]);
    else expect(next).toBe(`start ${process + 1} as worker 2`);
    process++;
    // Every second process serves for a moment; the others do not even start.
    if (death % 2 === 0) plan.ready(process, 1_000);
  }
  expect(pauses).toEqual(['.', ' in 1 s.', ' in 3 s.', ' in 10 s.', ' in 30 s.', ' in 30 s.', ' in 30 s.']);
});

it('immediately restarts a worker that has served for more than a minute', () => {
  const plan = twoServing();
  plan.ended(2, killed, 0);
  plan.ready(3, 0);
  expect(brief(plan.ended(3, killed, 1))[1]).toBe('wait 1000 for worker 2');
  plan.resume(2);
  plan.ready(4, 2);
  expect(brief(plan.ended(4, killed, 3 + minute))[1]).toBe('start 5 as worker 2');
});

it('replaces the workers one by one, each after the previous one has ended', () => {
  const plan = twoServing();
  expect(brief(plan.replace())).toEqual(['info: Replacing the workers', 'start 3 as worker 1']);
  expect(brief(plan.ready(3, 0))).toEqual(['end 1']);
  expect(brief(plan.ended(1, 'exit code 0', 0))).toEqual(['start 4 as worker 2']);
  expect(brief(plan.ready(4, 0))).toEqual(['end 2']);
  expect(brief(plan.ended(2, 'exit code 0', 0))).toEqual(['info: All workers have been replaced']);
});

it('keeps the workers if a replacement cannot start', () => {
  const plan = twoServing();
  plan.replace();
  expect(brief(plan.ended(3, 'Cannot load it.', 0))).toEqual([
    'error: Cannot load it.\nWorker 1 could not be replaced. The workers that serve go on.',
  ]);
  expect(brief(plan.replace())).toEqual(['info: Replacing the workers', 'start 4 as worker 1']);
});

it('replaces all workers again if that is requested during a replacement', () => {
  const plan = twoServing();
  plan.replace();
  expect(plan.replace()).toEqual([]);
  plan.ready(3, 0);
  plan.ended(1, '', 0);
  plan.ready(4, 0);
  expect(brief(plan.ended(2, '', 0))).toEqual([
    'info: All workers have been replaced',
    'info: Replacing the workers',
    'start 5 as worker 1',
  ]);
  plan.replace();
  expect(brief(plan.ended(5, 'No.', 0)).slice(1)).toEqual(['info: Replacing the workers', 'start 6 as worker 1']);
});

it('uses the replacement of a worker that dies during its replacement', () => {
  const plan = twoServing();
  plan.replace();
  expect(brief(plan.ended(1, killed, 0))).toEqual([`warn: ${killed}`]);
  expect(brief(plan.ready(3, 0))).toEqual(['start 4 as worker 2']);
});

it('restarts a dead worker whose replacement cannot start', () => {
  const plan = twoServing();
  plan.replace();
  plan.ended(1, killed, 0);
  expect(brief(plan.ended(3, 'No.', 0)).slice(1)).toEqual([
    'warn: No.\nStarting worker 1 again.',
    'start 4 as worker 1',
  ]);
});

it('replaces a starting worker when it serves, and a pausing one immediately', () => {
  const plan = twoServing();
  plan.ended(1, killed, 0);
  expect(brief(plan.replace())).toEqual(['info: Replacing the workers']);
  expect(brief(plan.ready(3, 0))).toEqual(['start 4 as worker 1']);
  plan.ready(4, 0);
  expect(brief(plan.ended(3, '', 0))).toEqual(['start 5 as worker 2']);
  plan.ready(5, 0);
  plan.ended(2, '', 0);

  expect(brief(plan.ended(4, killed, 1))[1]).toBe('wait 1000 for worker 1');
  expect(brief(plan.replace())[1]).toBe('start 6 as worker 1');
  expect(plan.resume(1)).toEqual([]);
  expect(brief(plan.ready(6, 1))).toEqual(['start 7 as worker 2']);
});

it('restarts a worker that dies while another one is replaced', () => {
  const plan = twoServing();
  plan.replace();
  expect(brief(plan.ended(2, killed, 0))[1]).toBe('start 4 as worker 2');
  plan.ready(3, 0);
  // The replacement of worker 2 waits until process 4 serves, or has failed.
  expect(brief(plan.ended(1, '', 0))).toEqual([]);
  expect(brief(plan.ended(4, 'No.', 0))).toEqual(['start 5 as worker 2']);
});

it('does nothing after it has been stopped', () => {
  const plan = twoServing();
  plan.ended(1, killed, 0);
  plan.ready(3, 0);
  plan.ended(3, killed, 0);
  plan.stop();
  expect([plan.ended(2, killed, 0), plan.resume(1), plan.replace(), plan.ready(4, 0)]).toEqual([[], [], [], []]);
});
