import { judgedGoals } from './goals.ts'
import { type Measured, OURS } from './measure.ts'
import { table } from './result-table.ts'

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
    ...judgedGoals(run.measured).map(
      (goal) => `| ${goal.what} | ${goal.wanted} | ${goal.got} | ${goal.verdict} |`,
    ),
    '',
  ]
  for (const measured of run.measured) lines.push(...table(measured, OURS))
  return `${lines.join('\n').trimEnd()}\n`
}
