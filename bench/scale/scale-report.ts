import type { Compared, QuestionTimes } from './scale-asking.ts'
import { HEALTH, HEALTH_MOST, type MeasuredDeletion } from './scale-deletion.ts'
import { MOST } from './scale-questions.ts'
import type { ScaleSize } from './scale-shape.ts'

export interface ScaleRun {
  /** Date in ISO 8601. */
  readonly date: string
  readonly machine: readonly string[]
  readonly rounds: number
  readonly large: ScaleSize
  readonly engines: readonly EngineRun[]
  /** Skipped measurements, and how to enable them. */
  readonly missing: readonly string[]
}

export interface EngineRun {
  readonly name: string
  readonly compared: readonly Compared[]
  /** Null when it was skipped. */
  readonly deletion: MeasuredDeletion | null
}

export const SCALE_TITLE = '# Cost at a million files'
/** Limit in milliseconds for the response to the deletion of a tree. */
const DELETE_MOST = 1000
/** Tolerance in milliseconds beyond twice the latency, for the resolution of the clock and noise. */
const NOISE = 1

/** The section of the results page, in Markdown. */
export function scaleReport(run: ScaleRun): string {
  const lines = [
    SCALE_TITLE,
    '',
    'Written by `npm run bench -- scale`; [README.md](README.md#cost-at-a-million-files) tells what each figure means.',
    '',
    `- ${run.date}, medians over ${run.rounds} requests, in milliseconds`,
    ...run.machine.map((line) => `- ${line}`),
    ...run.missing.map((line) => `- **not measured:** ${line}`),
    '',
    ...run.engines.flatMap((engine) => engineLines(engine, run.large)),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}

function engineLines({ name, compared, deletion }: EngineRun, large: ScaleSize): string[] {
  const files = whole(large.files)
  const rows = (goal: Compared['asked']['goal']) => compared.filter(({ asked }) => asked.goal === goal)
  return [
    `## ${name}: the same at 10,000 and at ${files} files`,
    '',
    `| | 10,000 | p95 | ${files} | p95 | ratio | at most 2 |`,
    '|---|---:|---:|---:|---:|---:|---|',
    ...rows('twice').map((row) => line(row, hasKept(row) ? 'reached' : '**missed**')),
    ...rows('none').map((row) => line(row, '')),
    '',
    `## ${name}: searches that meet very many names, or have no trigram`,
    '',
    `| | 10,000 | p95 | ${files} | p95 | ratio | at most ${MOST} ms |`,
    '|---|---:|---:|---:|---:|---:|---|',
    ...rows('absolute').map((row) => line(row, row.large.median <= MOST ? 'reached' : '**missed**')),
    '',
    ...(deletion === null ? [] : deletionLines(name, deletion, large)),
  ]
}

function hasKept({ small, large }: Compared): boolean {
  return large.median <= 2 * small.median || large.median - small.median <= NOISE
}

function line({ asked, small, large }: Compared, verdict: string): string {
  const cells = [
    asked.title,
    ...pair(small),
    ...pair(large),
    (large.median / small.median).toFixed(2),
    verdict,
  ]
  return `| ${cells.join(' | ')} |`.replace(/ {2}\|$/, ' |')
}

function pair({ median, p95 }: QuestionTimes): string[] {
  return [amount(median), amount(p95)]
}

function deletionLines(name: string, { answered, phases }: MeasuredDeletion, large: ScaleSize): string[] {
  const health = phases.slice(1).flatMap(({ probes }) => probes.filter((probe) => probe.name === HEALTH))
  const worst = Math.max(...health.map(({ p99 }) => p99))
  const names = phases[0]?.probes.map((probe) => probe.name) ?? []
  return [
    `## ${name}: a tree of ${whole(large.folders)} folders and ${whole(large.files)} files is deleted`,
    '',
    '| what | goal | reached | |',
    '|---|---|---|---|',
    `| the answer | ${DELETE_MOST} ms | ${amount(answered)} ms | ${answered <= DELETE_MOST ? 'reached' : '**missed**'} |`,
    `| /health meanwhile, p99 | ${HEALTH_MOST} ms | ${amount(worst)} ms | ${worst <= HEALTH_MOST ? 'reached' : '**missed**'} |`,
    '',
    'Median / p99 / longest:',
    '',
    `| | ${phases.map((phase) => phase.name).join(' | ')} |`,
    `|---|${phases.map(() => '---:').join('|')}|`,
    `| seconds | ${phases.map(({ seconds, isCut }) => `${seconds.toFixed(0)}${isCut ? ', cut' : ''}`).join(' | ')} |`,
    ...names.map((probe) => {
      const cells = phases.map(({ probes }) => {
        const found = probes.find((each) => each.name === probe)
        if (found === undefined || found.count === 0) return ''
        return [found.median, found.p99, found.most].map(amount).join(' / ')
      })
      return `| ${probe} | ${cells.join(' | ')} |`
    }),
    '',
  ]
}

function amount(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(0)
}

function whole(value: number): string {
  return value.toLocaleString('en')
}
