/** The icons of the values of an issue's fields. The texts beside them, or the names of their buttons, say the same. */
import type { Priority, Status } from '../../../src/fields.js';

const circle = { cx: 8, cy: 8, r: 5.75 };

/** The filled part of the circle, as a share of it. */
const shares: Partial<Record<Status, number>> = { progress: 0.5, review: 0.75 };
const around = 2 * Math.PI * 1.75;

export function StatusIcon({ status }: { status: Status }) {
  const share = shares[status];
  return (
    <svg className={`icon status-${status}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {status === 'done' || status === 'canceled' ? (
        <circle {...circle} r={6.5} className="solid" />
      ) : (
        <circle {...circle} strokeDasharray={status === 'backlog' ? '1.8 1.81' : undefined} />
      )}
      {share && (
        <circle
          cx="8"
          cy="8"
          r="1.75"
          strokeWidth="3.5"
          strokeLinecap="butt"
          strokeDasharray={`${around * share} ${around}`}
          transform="rotate(-90 8 8)"
        />
      )}
      {status === 'done' && <path className="mark" d="m5.2 8.2 2 2 3.7-4" />}
      {status === 'canceled' && <path className="mark" d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4" />}
    </svg>
  );
}

const bars = [
  [2, 9, 4],
  [6.5, 6, 7],
  [11, 3, 10],
] as const;

export function PriorityIcon({ priority }: { priority: Priority }) {
  const name = `icon priority priority-${priority}`;
  return (
    <svg className={name} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {priority === 0 && <path d="M3 8h1.6M7.2 8h1.6M11.4 8H13" />}
      {priority === 1 && (
        <path
          className="urgent"
          d="M4 1.75h8A2.25 2.25 0 0 1 14.25 4v8A2.25 2.25 0 0 1 12 14.25H4A2.25 2.25 0 0 1 1.75 12V4A2.25 2.25 0 0 1 4 1.75Z"
        />
      )}
      {priority === 1 && <path className="mark" d="M8 4.8v3.8M8 11.1v.1" />}
      {priority > 1 &&
        bars.map(([x, y, height], at) => (
          <rect key={x} x={x} y={y} width="3" height={height} rx="1" opacity={at < 5 - priority ? 1 : 0.28} />
        ))}
    </svg>
  );
}
