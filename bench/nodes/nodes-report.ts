import type { Measured } from '../measure.ts'
import { amount, table } from '../result-table.ts'

export interface NodesRun {
  /** Date in ISO 8601. */
  readonly date: string
  readonly machine: readonly string[]
  /** Backing services with versions. */
  readonly parts: string
  /** Load average of the minute before the run. */
  readonly load: number
  readonly rounds: number
  readonly bigSize: number
  readonly measured: readonly Measured[]
}

/** Name of the setup that the others are compared with. */
export const REFERENCE = 'SQLite, folder'

/** The section of the results page, in Markdown. */
export function nodesReport(run: NodesRun): string {
  const lines = [
    '# One node and three, on PostgreSQL and S3',
    '',
    'Written by `npm run bench -- nodes`; [README.md](README.md#one-node-and-three-on-postgresql-and-s3) tells what each figure means.',
    '',
    `- ${run.date}, ${run.rounds} rounds, big files of ${amount(run.bigSize / 1024 ** 2)} MiB`,
    ...[...run.machine, run.parts].map((line) => `- ${line}`),
    `- load of the machine before it began: ${run.load.toFixed(1)}`,
    '',
    ...run.measured.flatMap((measured) => table(measured, REFERENCE)),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}
