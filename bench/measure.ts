import { readyMemory } from './page-cache.ts'
import { resetPeak, usage } from './process-usage.ts'

/** Processes of a contender. */
export interface Processes {
  readonly pids: readonly number[]
  /** Processes of backing services, by name. */
  readonly behind?: Readonly<Record<string, readonly number[]>>
}

/** Result of one contender in one round. Null where a value does not apply. */
export interface Measurement {
  /** Rate in the scenario's unit; more is better. */
  readonly rate: number
  /** CPU seconds of the server per GiB, or per million requests. */
  readonly cpu: number | null
  /** CPU seconds of backing services, by name. */
  readonly behind?: Readonly<Record<string, number>>
  /** Peak resident memory of the server in bytes. */
  readonly peakBytes: number | null
}

export interface Contender {
  readonly name: string
  /** Runs once. `round` counts from 0; unmeasured warm-ups come before it. */
  run(round: number): Promise<Measurement>
}

export interface Scenario {
  readonly title: string
  readonly unit: string
  /** Unit of work for `cpu`, such as `GiB`. */
  readonly per: string
  /** Bytes of each file, where the work is many files of one size and `per` is `GiB`. */
  readonly fileSize?: number
  /** Bytes that a contender writes to disk, where they affect the result. */
  readonly writes?: number
  /** Contenders; missing peers are left out. */
  readonly contenders: readonly Contender[]
}

export interface BenchFigures {
  readonly name: string
  readonly rate: number
  readonly lowest: number
  readonly highest: number
  readonly cpu: number | null
  readonly behind: Readonly<Record<string, number>>
  readonly peakBytes: number | null
}

export interface Measured {
  readonly scenario: Scenario
  /** Medians over the rounds, in the order of the contenders. */
  readonly figures: readonly BenchFigures[]
}

/** Name of the contender that the others are compared with. */
export const OURS = 'Holdfast'

export const GIB = 1024 ** 3
export const MIB = 1024 ** 2

/**
 * Every round runs every contender of every scenario, so that other load on the machine affects all of them;
 * the order of contenders rotates each round. `scratch`: a folder on the disk that they write to.
 */
export async function measureAll(
  scenarios: readonly Scenario[],
  rounds: number,
  scratch: string,
  say: (line: string) => void,
): Promise<Measured[]> {
  const samples = new Map<Contender, Measurement[]>()
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      const { contenders } = scenario
      for (let turn = 0; turn < contenders.length; turn++) {
        const contender = contenders[(turn + round) % contenders.length]
        if (contender === undefined) continue
        if (scenario.writes !== undefined) readyMemory(scratch, scenario.writes)
        const sample = await contender.run(round)
        samples.set(contender, [...(samples.get(contender) ?? []), sample])
        say(
          `round ${round + 1}  ${scenario.title}  ${contender.name}: ${sample.rate.toFixed(0)} ${scenario.unit}`,
        )
      }
    }
  }
  return scenarios.map((scenario) => ({
    scenario,
    figures: scenario.contenders.map((contender) => figures(contender.name, samples.get(contender) ?? [])),
  }))
}

/** Resources used by some work. */
interface Used {
  readonly cpuSeconds: number
  readonly behind: Readonly<Record<string, number>>
  readonly peakBytes: number
}

/** Runs the work and measures the resources that the processes use meanwhile. */
export async function withUsage<T>(
  { pids, behind = {} }: Processes,
  work: () => Promise<T>,
): Promise<Used & { readonly result: T }> {
  const cpuBehind = () => mapped(behind, (others) => usage(others).cpuSeconds)
  resetPeak(pids)
  const before = usage(pids)
  const beforeBehind = cpuBehind()
  const result = await work()
  const after = usage(pids)
  return {
    result,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    behind: mapped(cpuBehind(), (seconds, name) => seconds - (beforeBehind[name] ?? 0)),
    peakBytes: after.peakBytes,
  }
}

/** `amount`: work done, in the unit for CPU time. */
export function sampleOf(rate: number, used: Used, amount: number): Measurement {
  return {
    rate,
    cpu: used.cpuSeconds / amount,
    behind: mapped(used.behind, (seconds) => seconds / amount),
    peakBytes: used.peakBytes,
  }
}

/** For an even number of values the mean of the middle two. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (upper + lower) / 2
}

function figures(name: string, samples: readonly Measurement[]): BenchFigures {
  const rates = samples.map((sample) => sample.rate)
  return {
    name,
    rate: median(rates),
    lowest: Math.min(...rates),
    highest: Math.max(...rates),
    cpu: known(samples.map((sample) => sample.cpu)),
    behind: mapped(samples[0]?.behind ?? {}, (_, name) =>
      median(samples.map((sample) => sample.behind?.[name] ?? Number.NaN)),
    ),
    peakBytes: known(samples.map((sample) => sample.peakBytes)),
  }
}

function known(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null)
  return numbers.length === 0 ? null : median(numbers)
}

function mapped<T, U>(
  record: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))
}
