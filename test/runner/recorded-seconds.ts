/**
 * Time of each test file at the last `npm run test:all -- --record`. Used to start long files first, to
 * report files that have become slow, and to keep `npm test` short (test/runner/running.test.ts).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Task, tasksOf, testFiles } from './tiers.ts'

export interface Took {
  readonly seconds: number
  /** CPU seconds of the file's process and of all processes that were waited for. */
  readonly processorSeconds: number
}

const PATH = join(import.meta.dir, '../seconds.json')
const shape = z.record(z.string(), z.tuple([z.number(), z.number()]))

/** Tolerance of a file's CPU seconds: this multiple of its record, and so many seconds more. */
const TIMES = 2
const MORE = 5

/** By `nameOf`. */
export function recordedSeconds(): Map<string, Took> {
  const read = shape.parse(JSON.parse(readFileSync(PATH, 'utf8')))
  return new Map(
    Object.entries(read).map(([name, [seconds, processorSeconds]]) => [name, { seconds, processorSeconds }]),
  )
}

/** Replaces the record; deleted files are dropped. */
export function recordSeconds(took: ReadonlyMap<string, Took>): void {
  const names = new Set(tasksOf(testFiles()).map(nameOf))
  const lines = [...took]
    .filter(([name]) => names.has(name))
    .map(([name, { seconds, processorSeconds }]) => {
      return `  ${JSON.stringify(name)}: [${seconds.toFixed(1)}, ${processorSeconds.toFixed(1)}]`
    })
  writeFileSync(PATH, `{\n${lines.sort().join(',\n')}\n}\n`)
}

export function nameOf({ pair, file }: Task): string {
  return `${pair} ${file}`
}

/** CPU seconds that a file may take; unlimited without a record. */
export function budgetOf(recorded: Took | undefined): number {
  return recorded === undefined ? Number.POSITIVE_INFINITY : TIMES * recorded.processorSeconds + MORE
}
