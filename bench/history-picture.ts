/** Draws the results of past runs as a picture in SVG: a small chart for each comparison with a peer. */

import type { PastRun } from './history.ts'
import { OURS } from './measure.ts'

interface Point {
  readonly run: PastRun
  readonly ratio: number
}

interface Chart {
  readonly title: string
  readonly peer: string
  readonly points: readonly Point[]
}

const COLUMNS = 3
const WIDTH = 300
const HEIGHT = 150
const GAP = 24
/** Room in a chart for its two lines of title, and below for dates. */
const TOP = 42
const BOTTOM = 20
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #343a40 }
  .peer, .date { fill: #5c6570; font-size: 11px }
  .even { stroke: #adb5bd; stroke-dasharray: 3 3 }
  .line { fill: none; stroke: #0b7285; stroke-width: 2 }
  .point { fill: #0b7285 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e9ecef } .peer, .date { fill: #adb5bd } .even { stroke: #5c6570 }
    .line { stroke: #3bc9db } .point { fill: #3bc9db }
  }`

/**
 * How many times as fast as its first peer Holdfast was in each scenario, run by run. Ratios, because the
 * machines differ; the dashed line is a tie.
 */
export function historyPicture(runs: readonly PastRun[]): string {
  const charts = chartsOf(runs)
  const rows = Math.ceil(charts.length / COLUMNS)
  const width = COLUMNS * (WIDTH + GAP) + GAP
  const height = rows * (HEIGHT + GAP) + GAP
  const drawn = charts.map((chart, at) => {
    const x = GAP + (at % COLUMNS) * (WIDTH + GAP)
    const y = GAP + Math.floor(at / COLUMNS) * (HEIGHT + GAP)
    return `<g transform="translate(${x} ${y})">${draw(chart)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>Holdfast beside its peers, run by run</title>
<style>${STYLE}
</style>
${drawn.join('\n')}
</svg>
`
}

function chartsOf(runs: readonly PastRun[]): Chart[] {
  const charts = new Map<string, Chart>()
  for (const run of runs) {
    for (const { title, figures } of run.scenarios) {
      const ours = figures.find(({ name }) => name === OURS)
      const peer = figures.find(({ name }) => name !== OURS)
      if (ours === undefined || peer === undefined) continue
      const { points = [] } = charts.get(title) ?? {}
      charts.set(title, {
        title,
        peer: peer.name,
        points: [...points, { run, ratio: ours.rate / peer.rate }],
      })
    }
  }
  return [...charts.values()]
}

function draw({ title, peer, points }: Chart): string {
  const most = Math.max(1, ...points.map(({ ratio }) => ratio)) * 1.1
  const y = (ratio: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - ratio / most)
  const x = (at: number) => (points.length === 1 ? WIDTH / 2 : 8 + (at / (points.length - 1)) * (WIDTH - 56))
  const line = points.map(({ ratio }, at) => `${x(at).toFixed(1)},${y(ratio).toFixed(1)}`).join(' ')
  const last = points.at(-1)
  return [
    `<text y="12">${escaped(title)}</text>`,
    `<text y="28" class="peer">× ${escaped(peer)}</text>`,
    `<line class="even" x1="0" x2="${WIDTH}" y1="${y(1).toFixed(1)}" y2="${y(1).toFixed(1)}"/>`,
    `<polyline class="line" points="${line}"/>`,
    ...points.map(
      ({ run, ratio }, at) =>
        `<circle class="point" cx="${x(at).toFixed(1)}" cy="${y(ratio).toFixed(1)}" r="3"><title>${escaped(
          `${run.date.slice(0, 10)}, ${run.commit}: ${ratio.toFixed(2)} ×`,
        )}</title></circle>`,
    ),
    last === undefined
      ? ''
      : `<text x="${(x(points.length - 1) + 8).toFixed(1)}" y="${(y(last.ratio) + 4).toFixed(1)}">${last.ratio.toFixed(2)}</text>`,
    `<text class="date" y="${HEIGHT}">${points[0]?.run.date.slice(0, 10) ?? ''}</text>`,
    `<text class="date" x="${WIDTH}" y="${HEIGHT}" text-anchor="end">${last?.run.date.slice(0, 10) ?? ''}</text>`,
  ].join('')
}

function escaped(text: string): string {
  return Bun.escapeHTML(text)
}
