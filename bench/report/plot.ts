/** Curves on two logarithmic axes, drawn as SVG that is readable on light and dark pages. */
import { digits } from './cells.js';

export interface Curve {
  readonly name: string;
  /** In ascending order of x. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Plot {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly curves: readonly Curve[];
  /** Formats the label of an x value's tick. */
  readonly xLabel: (x: number) => string;
}

const [width, height] = [760, 400];
const frame = { left: 76, right: 540, top: 50, bottom: 340 };
/** The minimum distance between the curves' labels. */
const lineHeight = 18;

/** Styles the parts of a chart, for light and dark pages. */
export const style: string = `
  :root { --ink: #1f2933; --faint: #d9e0e7; --paper: #ffffff; --c0: #0b63b0; --c1: #b4480c; --c2: #1a7f4b; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e4e9ee; --faint: #3a444e; --paper: #14191e; --c0: #6bb5ff; --c1: #ff9d66; --c2: #5fd39a; }
  }
  text { fill: var(--ink); font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; }
  .title { font-size: 15px; font-weight: 600; }
  .grid { stroke: var(--faint); }
  .curve { fill: none; stroke-width: 2; }`;

export function drawPlot({ title, xTitle, yTitle, curves, xLabel }: Plot): string {
  const points = curves.flatMap((curve) => curve.points);
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const ys = powersAround(points.map(({ y }) => y));
  const atX = scaleOf(xs[0]!, xs.at(-1)!, frame.left + 12, frame.right - 12);
  const atY = scaleOf(ys[0]!, ys.at(-1)!, frame.bottom, frame.top);
  const ends = apart(curves.map((curve) => atY(curve.points.at(-1)!.y)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${style}
</style>
<rect width="${width}" height="${height}" fill="var(--paper)"/>
<text class="title" x="${frame.left}" y="28">${escaped(title)}</text>
${ys.map((y) => tickY(atY(y), `${y}`)).join('\n')}
${xs.map((x) => tickX(atX(x), xLabel(x))).join('\n')}
<text x="${(frame.left + frame.right) / 2}" y="${height - 14}" text-anchor="middle">${escaped(xTitle)}</text>
<text transform="translate(18 ${(frame.top + frame.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(yTitle)}</text>
${curves.map((curve, i) => drawCurve(curve, `var(--c${i})`, { atX, atY, labelY: ends[i]! })).join('\n')}
</svg>
`;
}

type Place = (value: number) => number;

interface Drawing {
  readonly atX: Place;
  readonly atY: Place;
  readonly labelY: number;
}

function drawCurve({ name, points }: Curve, colour: string, at: Drawing): string {
  const placed = points.map(({ x, y }) => ({ x: round(at.atX(x)), y: round(at.atY(y)), value: y }));
  const line = placed.map(({ x, y }) => `${x},${y}`).join(' ');
  const dots = placed.map(
    ({ x, y, value }) =>
      `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"><title>${digits(value)} ms</title></circle>`,
  );
  const label = `${name}, ${digits(points.at(-1)!.y)} ms`;
  return `<polyline class="curve" stroke="${colour}" points="${line}"/>
${dots.join('')}
<text x="${frame.right + 8}" y="${round(at.labelY + 4)}" style="fill: ${colour}">${escaped(label)}</text>`;
}

function tickX(x: number, label: string): string {
  const at = round(x);
  return `<line class="grid" x1="${at}" x2="${at}" y1="${frame.top}" y2="${frame.bottom}"/><text x="${at}" y="${frame.bottom + 20}" text-anchor="middle">${escaped(label)}</text>`;
}

function tickY(y: number, label: string): string {
  const at = round(y);
  return `<line class="grid" x1="${frame.left}" x2="${frame.right}" y1="${at}" y2="${at}"/><text x="${frame.left - 8}" y="${at + 4}" text-anchor="end">${escaped(label)}</text>`;
}

/** The powers of ten that enclose the values. */
function powersAround(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  // From a decimal literal, because a power of a float may be 0.010000000000000002.
  return Array.from({ length: high - low + 1 }, (_, i) => Number(`1e${low + i}`));
}

function scaleOf(low: number, high: number, from: number, to: number): Place {
  const span = Math.log(high / low) || 1;
  return (value) => from + ((to - from) * Math.log(value / low)) / span;
}

/** Moves labels down the page where they would overlap. */
function apart(heights: readonly number[]): number[] {
  const moved = [...heights];
  const order = heights.map((_, i) => i).sort((a, b) => heights[a]! - heights[b]!);
  for (let i = 1; i < order.length; i++) {
    const [above, below] = [order[i - 1]!, order[i]!];
    moved[below] = Math.max(moved[below]!, moved[above]! + lineHeight);
  }
  return moved;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

/** Escapes a text for XML. */
export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
