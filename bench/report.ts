import { ARCHIVE, ONE_BY_ONE, ONE_FILE } from './archives.ts'
import { CLIENT_BIG, CLIENT_SMALL, CURL } from './command-line.ts'
import { BIG_DOWNLOAD } from './downloads.ts'
import type { BenchFigures, Measured } from './measure.ts'
import { OURS } from './measure.ts'
import { FILE_DETAIL } from './requests.ts'
import { amount, table } from './result-table.ts'
import { MANY_PATCHES, MULTIPART, ONE_PATCH, TUS_ON_BUN, TUS_SERVER } from './resumable.ts'
import { BIG_UPLOAD } from './uploads.ts'

export interface Run {
  /** Date in ISO 8601. */
  readonly date: string
  readonly machine: readonly string[]
  readonly peers: readonly string[]
  readonly rounds: number
  readonly bigMib: number
  /** Skipped measurements, and how to enable them. */
  readonly missing: readonly string[]
  readonly measured: readonly Measured[]
}

/** The whole page in Markdown. */
export function report(run: Run): string {
  const lines = [
    '# Results',
    '',
    'Written by `npm run bench`; [README.md](README.md) tells what each figure means.',
    '',
    `- ${run.date}, ${run.rounds} rounds, big files of ${run.bigMib} MiB`,
    ...[...run.machine, ...run.peers].map((line) => `- ${line}`),
    ...run.missing.map((line) => `- **not measured:** ${line}`),
    '',
    '## Goals',
    '',
    '| what | goal | reached | |',
    '|---|---|---|---|',
    ...goals(run.measured).map((goal) => `| ${goal.what} | ${goal.wanted} | ${goal.got} | ${goal.verdict} |`),
    '',
  ]
  for (const measured of run.measured) lines.push(...table(measured, OURS))
  return `${lines.join('\n').trimEnd()}\n`
}

interface Goal {
  readonly what: string
  readonly wanted: string
  readonly got: string
  readonly verdict: string
}

/** Goals of the measured scenarios; one with a missing peer is reported as such instead of passing. */
function goals(measured: readonly Measured[]): Goal[] {
  return [
    ...goal(
      measured,
      BIG_UPLOAD,
      '1.30 × nginx PUT + sync, or 0.85 × dd, whichever is less',
      (ours, peer) => {
        const nginx = peer('nginx PUT + sync')
        const dd = peer('dd conv=fsync')
        if (nginx === null || dd === null) return null
        return {
          got: `${times(ours, nginx)} × nginx, ${times(ours, dd)} × dd`,
          reached: ours.rate >= Math.min(1.3 * nginx.rate, 0.85 * dd.rate),
        }
      },
    ),
    ...goal(measured, BIG_DOWNLOAD, '0.90 × nginx', (ours, peer) => {
      const nginx = peer('nginx GET')
      if (nginx === null) return null
      return { got: `${times(ours, nginx)} × nginx`, reached: ours.rate >= 0.9 * nginx.rate }
    }),
    ...goal(measured, ARCHIVE, `0.70 × ${ONE_BY_ONE}`, (ours, peer) => {
      const [each, one] = [peer(ONE_BY_ONE), peer(ONE_FILE)]
      if (each === null || one === null) return null
      const got = `${times(ours, each)} × ${ONE_BY_ONE}, ${times(ours, one)} × ${ONE_FILE}`
      return { got, reached: ours.rate >= 0.7 * each.rate }
    }),
    ...goal(measured, FILE_DETAIL, '20,000 requests/s, or 0.30 × a bare Bun server', (ours, peer) => {
      const bare = peer('bare Bun server, constant answer')
      if (bare === null) return null
      return {
        got: `${amount(ours.rate)} requests/s, ${times(ours, bare)} × bare`,
        reached: ours.rate >= Math.min(20_000, 0.3 * bare.rate),
      }
    }),
    ...[ONE_PATCH, MANY_PATCHES].flatMap((title) =>
      goal(measured, title, '2.00 × @tus/server, and 0.80 × our plain upload', (ours, peer) => {
        const [theirs, onBun, plain] = [peer(TUS_SERVER), peer(TUS_ON_BUN), peer(MULTIPART)]
        if (theirs === null || onBun === null || plain === null) return null
        return {
          got: `${times(ours, theirs)} × @tus/server (${times(ours, onBun)} × on Bun), ${times(ours, plain)} × plain`,
          reached: ours.rate >= 2 * theirs.rate && ours.rate >= 0.8 * plain.rate,
        }
      }),
    ),
    ...[
      { title: CLIENT_BIG, least: 0.8 },
      { title: CLIENT_SMALL, least: 2 },
    ].flatMap(({ title, least }) =>
      goal(measured, title, `${least.toFixed(2)} × curl`, (ours, peer) => {
        const curl = peer(CURL)
        if (curl === null) return null
        return { got: `${times(ours, curl)} × curl`, reached: ours.rate >= least * curl.rate }
      }),
    ),
  ]
}

function goal(
  measured: readonly Measured[],
  title: string,
  wanted: string,
  judge: (
    ours: BenchFigures,
    peer: (name: string) => BenchFigures | null,
  ) => { readonly got: string; readonly reached: boolean } | null,
): Goal[] {
  const found = measured.find(({ scenario }) => scenario.title === title)
  const ours = found?.figures.find((row) => row.name === OURS)
  if (found === undefined || ours === undefined) return []
  const judged = judge(ours, (name) => found.figures.find((row) => row.name === name) ?? null)
  return [
    judged === null
      ? { what: title, wanted, got: 'a peer is missing', verdict: 'unknown' }
      : { what: title, wanted, got: judged.got, verdict: judged.reached ? 'reached' : '**missed**' },
  ]
}

function times(ours: BenchFigures, peer: BenchFigures): string {
  return (ours.rate / peer.rate).toFixed(2)
}
