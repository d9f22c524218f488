/**
 * Groups test files into shared processes: starting a process and loading the server costs more than many a
 * file.
 */
import { nameOf, type Took } from './recorded-seconds.ts'
import { needsServers, type PairName, processOf, type Task } from './tiers.ts'

export interface Batch {
  readonly pair: PairName
  readonly files: readonly string[]
  /** Sum of recorded seconds; Infinity if any file has no record. */
  readonly seconds: number
}

/** Maximum recorded seconds of a batch; files above half of it get a process of their own. */
const LONGEST = 60

/** Groups tasks into batches, longest first; unless `isShared`, one task each. */
export function batchesOf(
  tasks: readonly Task[],
  recorded: ReadonlyMap<string, Took>,
  { isShared }: { readonly isShared: boolean },
): Batch[] {
  const secondsOf = (task: Task) => recorded.get(nameOf(task))?.seconds ?? Number.POSITIVE_INFINITY
  const ordered = [...tasks].sort((a, b) => secondsOf(b) - secondsOf(a))
  const batches: Batch[] = []
  const open = new Map<string, Batch>()
  for (const task of ordered) {
    const seconds = secondsOf(task)
    const alone = { pair: task.pair, files: [task.file], seconds }
    const process = isShared && seconds < LONGEST / 2 ? processOf(task.file) : null
    if (process === null) {
      batches.push(alone)
      continue
    }
    const kind = `${task.pair} ${process} ${needsServers(task)}`
    const last = open.get(kind)
    if (last === undefined || last.seconds + seconds > LONGEST) {
      if (last !== undefined) batches.push(last)
      open.set(kind, alone)
    } else {
      open.set(kind, { ...last, files: [...last.files, task.file], seconds: last.seconds + seconds })
    }
  }
  return [...batches, ...open.values()].sort((a, b) => b.seconds - a.seconds)
}

export function titleOf({ pair, files: [first, ...others] }: Batch): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `${nameOf({ pair, file: first ?? '' })}${more}`
}
