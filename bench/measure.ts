/** Runs contenders in turn, and measures their rates and what their processes use. */
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export const MIB = 1024 ** 2
export const GIB = 1024 ** 3

/** Name of the contender that the others are compared with. */
export const OURS = 'Holdfast'

/** One contender in one round. Null where a value does not apply. */
export interface Measurement {
  /** In the scenario's unit; more is better. */
  readonly rate: number
  /** Processor seconds of the server for one unit of `per`. */
  readonly cpu: number | null
  /** Processor seconds of the services behind it, by name. */
  readonly behind?: Readonly<Record<string, number>>
  /** Peak resident memory of the server in bytes. */
  readonly peak: number | null
}

export interface Contender {
  readonly name: string
  /** Runs once; rounds count from 0. */
  run(round: number): Promise<Measurement>
}

/** Holdfast's rate is to be at least `least` times that of the contender `of`. */
export interface Goal {
  readonly least: number
  readonly of: string
}

export interface Scenario {
  readonly title: string
  readonly unit: string
  /** What `cpu` is measured for: `GiB`, `file`, `1,000 requests`. */
  readonly per: string
  /** Bytes that a contender writes to disk, where that affects the result. */
  readonly writes?: number
  readonly goals?: readonly Goal[]
  readonly contenders: readonly Contender[]
}

/** Medians over the rounds. */
export interface Figures extends Measurement {
  readonly name: string
  readonly lowest: number
  readonly highest: number
  readonly behind: Readonly<Record<string, number>>
}

export interface Measured {
  readonly scenario: Scenario
  /** In the order of the contenders. */
  readonly figures: readonly Figures[]
}

/** Processes of a server, and of the services behind it by name. */
export interface Processes {
  readonly pids: readonly number[]
  readonly behind?: Readonly<Record<string, readonly number[]>>
}

/**
 * Every round runs every contender of every scenario, another one first each time, so that other load on the machine
 * affects all of them. `scratch`: a folder on the disk that they write to.
 */
export async function measureAll(
  scenarios: readonly Scenario[],
  rounds: number,
  scratch: string,
): Promise<Measured[]> {
  const samples = new Map<Contender, Measurement[]>()
  for (let round = 0; round < rounds; round++) {
    for (const { title, unit, writes, contenders } of scenarios) {
      const first = round % contenders.length
      for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
        if (writes !== undefined) warmMemory(scratch, writes)
        const sample = await contender.run(round)
        samples.set(contender, [...(samples.get(contender) ?? []), sample])
        console.error(`round ${round + 1}  ${title}  ${contender.name}: ${sample.rate.toFixed(0)} ${unit}`)
      }
    }
  }
  return scenarios.map((scenario) => ({
    scenario,
    figures: scenario.contenders.map((contender) => medians(contender.name, samples.get(contender) ?? [])),
  }))
}

/** Runs the work and measures what the processes use meanwhile; `sample` divides it by the work done. */
export async function withUsage<T>(
  { pids, behind = {} }: Processes,
  work: () => Promise<T>,
): Promise<{ readonly result: T; sample(rate: number, done: number): Measurement }> {
  for (const pid of pids.flatMap(family)) writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const services = Object.entries(behind)
  const before = usage(pids)
  const beforeBehind = services.map(([, others]) => usage(others).seconds)
  const result = await work()
  const after = usage(pids)
  const used = services.map(
    ([name, others], at) => [name, usage(others).seconds - (beforeBehind[at] ?? 0)] as const,
  )
  return {
    result,
    sample: (rate, done) => ({
      rate,
      cpu: (after.seconds - before.seconds) / done,
      behind: Object.fromEntries(used.map(([name, seconds]) => [name, seconds / done])),
      peak: after.peak,
    }),
  }
}

/** For an even number of values the mean of the middle two. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (upper + lower) / 2
}

function medians(name: string, samples: readonly Measurement[]): Figures {
  const rates = samples.map(({ rate }) => rate)
  const known = (values: readonly (number | null)[]) => {
    const numbers = values.filter((value) => value !== null)
    return numbers.length === 0 ? null : median(numbers)
  }
  const services = Object.keys(samples[0]?.behind ?? {})
  return {
    name,
    rate: median(rates),
    lowest: Math.min(...rates),
    highest: Math.max(...rates),
    cpu: known(samples.map(({ cpu }) => cpu)),
    peak: known(samples.map(({ peak }) => peak)),
    behind: Object.fromEntries(
      services.map((service) => [
        service,
        median(samples.map(({ behind }) => behind?.[service] ?? Number.NaN)),
      ]),
    ),
  }
}

/** Clock ticks per second in /proc/<pid>/stat: 100 on every Linux that Bun supports. */
const TICKS = 100

/** Processor seconds since their start, and peak memory in bytes, of processes and their descendants (proc(5)). */
function usage(pids: readonly number[]): { readonly seconds: number; readonly peak: number } {
  let seconds = 0
  let peak = 0
  for (const pid of pids.flatMap(family)) {
    const stat = read(pid, 'stat')
    if (stat === null) continue
    // The name in parentheses may contain spaces. utime, stime and those of reaped children are fields 14 to 17; the
    // first field after the name is 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    seconds += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS
    peak += 1024 * Number(/^VmHWM:\s*(\d+) kB/m.exec(read(pid, 'status') ?? '')?.[1] ?? 0)
  }
  return { seconds, peak }
}

function family(pid: number): number[] {
  const children = (read(pid, `task/${pid}/children`) ?? '').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

/** Null when the process has ended: PostgreSQL's come and go, and what they used is then added to their parent's. */
function read(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null
    throw error
  }
}

/**
 * Touches so many bytes of page cache. A virtual machine gets memory that it has not used for some seconds from its host
 * page by page, which takes longer than an upload: whoever comes after a deleted file would seem twice as fast.
 */
function warmMemory(folder: string, bytes: number): void {
  const path = join(folder, 'warm.bin')
  const piece = new Uint8Array(MIB)
  const file = openSync(path, 'w')
  for (let written = 0; written < bytes; written += piece.length) writeSync(file, piece)
  closeSync(file)
  rmSync(path)
}
