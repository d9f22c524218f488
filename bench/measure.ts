import { readyMemory } from './page-cache.ts'
import { resetPeak, usage } from './process-usage.ts'

/** The processes of a contender. */
export interface Processes {
  readonly pids: readonly number[]
  /** What works behind them, by its name. */
  readonly behind?: Readonly<Record<string, readonly number[]>>
}

/** One contender in one round. A value it cannot have is null. */
export interface Sample {
  /** In the scenario's unit; more is better. */
  readonly rate: number
  /** Server CPU seconds for each GiB, or each million requests. */
  readonly cpu: number | null
  /** The same for what works behind the server, by its name. */
  readonly behind?: Readonly<Record<string, number>>
  /** Resident memory of the server at its highest, bytes. */
  readonly peakBytes: number | null
}

export interface Contender {
  readonly name: string
  /** Does the work once. `round` counts from 0; warm-ups come before it and are not measured. */
  run(round: number): Promise<Sample>
}

export interface Scenario {
  readonly title: string
  readonly unit: string
  /** What `cpu` is counted for, such as `GiB`. */
  readonly per: string
  /** Bytes that a contender writes to the disk, where they tell in the figures. */
  readonly writes?: number
  /** A peer that is missing is left out. */
  readonly contenders: readonly Contender[]
}

export interface Figures {
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
  readonly figures: readonly Figures[]
}

/** The name of the contender that the others are compared with. */
export const OURS = 'Holdfast'

export const GIB = 1024 ** 3
export const MIB = 1024 ** 2

/**
 * Every round runs every contender of every scenario, so that what else the machine does meets all of them; the
 * order of the contenders turns by one each round. `scratch` is a folder on the disk that they write to.
 */
export async function measureAll(
  scenarios: readonly Scenario[],
  rounds: number,
  scratch: string,
  say: (line: string) => void,
): Promise<Measured[]> {
  const samples = new Map<Contender, Sample[]>()
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

/** What was used during some work. */
interface Used {
  readonly cpuSeconds: number
  readonly behind: Readonly<Record<string, number>>
  readonly peakBytes: number
}

/** Runs the work and tells what the processes used meanwhile. */
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

/** `amount`: how much was done of that for which CPU time is counted. */
export function sampleOf(rate: number, used: Used, amount: number): Sample {
  return {
    rate,
    cpu: used.cpuSeconds / amount,
    behind: mapped(used.behind, (seconds) => seconds / amount),
    peakBytes: used.peakBytes,
  }
}

/** Of an even number, the mean of the two in the middle. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (upper + lower) / 2
}

function figures(name: string, samples: readonly Sample[]): Figures {
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
