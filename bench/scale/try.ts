import { measure } from './measure/measure.js';

const q = process.argv[3] ? 4 : 1;
const m = await measure(
  Number(process.argv[2]) as 0,
  {
    seats: 500 * q,
    groups: 500 * q,
    writes: 40 * q,
    firstPulls: 10 * q,
    pushes: 800 * q,
    unchanged: 4000 * q,
    quietSeconds: 3,
    heldSeconds: 5 * q,
  },
  (s) => console.error((performance.now() / 1000).toFixed(1), s),
);
console.log(
  m.phases
    .map(({ name, times, spent, statements }) =>
      [
        name,
        times,
        spent.server,
        spent.writer,
        spent.primary,
        spent.standby,
        spent.seconds.toFixed(1),
        statements.looks,
        statements.questions,
        statements.deltas,
      ].join(' '),
    )
    .join('\n'),
);
console.log(m.costs, m.memory, m.traffic);
