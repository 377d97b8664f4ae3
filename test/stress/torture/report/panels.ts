/** Draws figures over time: a panel for each, one below the other, as SVG for light and dark pages. */
import { escaped, style } from '../../../../bench/report/plot.js';

export interface Panel {
  readonly title: string;
  /** In ascending order of x. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const width = 760;
const panelHeight = 110;
const frame = { left: 16, right: 690, top: 30, bottom: 100 };

/** Each panel's scale begins at 0. */
export function drawPanels(title: string, xTitle: string, panels: readonly Panel[]): string {
  const height = panels.length * panelHeight + 30;
  const until = Math.max(...panels.flatMap(({ points }) => points.map(({ x }) => x)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${style}
</style>
<rect width="${width}" height="${height}" fill="var(--paper)"/>
${panels.map((panel, i) => drawPanel(panel, until, i * panelHeight)).join('\n')}
<text x="${frame.left}" y="${height - 8}">0</text>
<text x="${frame.right}" y="${height - 8}" text-anchor="end">${Math.round(until)} ${escaped(xTitle)}</text>
</svg>
`;
}

function drawPanel({ title, points }: Panel, until: number, offset: number): string {
  const maxY = Math.max(1, ...points.map(({ y }) => y));
  const line = points.map(({ x, y }) => {
    const left = frame.left + ((frame.right - frame.left) * x) / until;
    return `${left.toFixed(1)},${(offset + frame.bottom - ((frame.bottom - frame.top) * y) / maxY).toFixed(1)}`;
  });
  const ground = offset + frame.bottom;
  return `<text class="title" x="${frame.left}" y="${offset + 20}">${escaped(title)}</text>
<line class="grid" x1="${frame.left}" x2="${frame.right}" y1="${ground}" y2="${ground}"/>
<polyline class="curve" stroke="var(--c0)" points="${line.join(' ')}"/>
<text x="${frame.right + 8}" y="${offset + frame.top + 5}">${Math.round(maxY)}</text>
<text x="${frame.right + 8}" y="${ground}">0</text>`;
}
