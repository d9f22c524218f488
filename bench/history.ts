/** Results of every whole run, kept in bench/history.jsonl: one line of JSON a run, the oldest first. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { historyPicture } from './history-picture.ts'
import type { Measured } from './measure.ts'

const figuresOfRun = z.object({
  name: z.string(),
  /** Median in the unit of the scenario. */
  rate: z.number(),
  /** CPU seconds per unit of the scenario. */
  cpu: z.number().nullable(),
})

const pastRun = z.object({
  /** Name of the bench, such as `bench:nodes`. */
  bench: z.string(),
  /** In ISO 8601. */
  date: z.string(),
  /** Short hash of the commit that was measured, with `+` after it when files had changed since. */
  commit: z.string(),
  machine: z.string(),
  rounds: z.number(),
  scenarios: z.array(
    z.object({ title: z.string(), unit: z.string(), per: z.string(), figures: z.array(figuresOfRun) }),
  ),
})

/** A run as bench/history.jsonl keeps it. */
export type PastRun = z.infer<typeof pastRun>

const HISTORY = join(import.meta.dir, 'history.jsonl')
const PICTURE = join(import.meta.dir, 'history.svg')

/** Appends a run to the history, and draws its picture anew. */
export function recordRun(run: {
  readonly bench: string
  readonly machine: readonly string[]
  readonly rounds: number
  readonly measured: readonly Measured[]
}): void {
  const past: PastRun = {
    bench: run.bench,
    date: new Date().toISOString(),
    commit: measuredCommit(),
    machine: run.machine.join('; '),
    rounds: run.rounds,
    scenarios: run.measured.map(({ scenario: { title, unit, per }, figures }) => ({
      title,
      unit,
      per,
      figures: figures.map(({ name, rate, cpu }) => ({
        name,
        rate: rounded(rate),
        cpu: cpu && rounded(cpu),
      })),
    })),
  }
  appendFileSync(HISTORY, `${JSON.stringify(past)}\n`)
  writeFileSync(PICTURE, historyPicture(pastRuns()))
}

/** The runs of bench/history.jsonl. Throws when a line is not one. */
export function pastRuns(): PastRun[] {
  if (!existsSync(HISTORY)) return []
  const lines = readFileSync(HISTORY, 'utf8').trim().split('\n')
  return lines.map((line) => pastRun.parse(JSON.parse(line)))
}

/** Four digits, which are more than a second run repeats. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

function measuredCommit(): string {
  const git = (...words: string[]) =>
    Bun.spawnSync(['git', ...words], { cwd: import.meta.dir })
      .stdout.toString()
      .trim()
  const hash = git('rev-parse', '--short', 'HEAD') || 'unknown'
  return git('status', '--porcelain', '--', '../src') === '' ? hash : `${hash}+`
}
