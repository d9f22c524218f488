import type { Family } from './exposition.ts'
import { createHistogram, type Histogram } from './histogram.ts'

/** Counts and durations of operations by kind and outcome. */
export interface Timed {
  /** Starts an operation; the returned function records its outcome. Kinds and outcomes must be few. */
  begin(kind: string): (outcome: string) => void
  families(): readonly Family[]
}

export interface TimedNames {
  readonly runs: Pick<Family, 'name' | 'help'>
  readonly seconds: Pick<Family, 'name' | 'help'>
  /** Names of the labels. */
  readonly kind: string
  readonly outcome: string
  /** Bounds of the buckets in seconds. */
  readonly bounds: readonly number[]
}

interface Work {
  readonly outcomes: Map<string, number>
  readonly seconds: Histogram
}

/** `now`: monotonic milliseconds. */
export function createTimed(names: TimedNames, now: () => number): Timed {
  const works = new Map<string, Work>()

  function workOf(kind: string): Work {
    const known = works.get(kind)
    if (known !== undefined) return known
    const made = { outcomes: new Map<string, number>(), seconds: createHistogram(names.bounds) }
    works.set(kind, made)
    return made
  }

  return {
    begin(kind) {
      const began = now()
      return (outcome) => {
        const { outcomes, seconds } = workOf(kind)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        seconds.observe((now() - began) / 1000)
      }
    },

    families: () => [
      {
        ...names.runs,
        type: 'counter',
        samples: [...works].flatMap(([kind, { outcomes }]) =>
          [...outcomes].map(([outcome, value]) => ({
            labels: { [names.kind]: kind, [names.outcome]: outcome },
            value,
          })),
        ),
      },
      {
        ...names.seconds,
        type: 'histogram',
        samples: [...works].flatMap(([kind, { seconds }]) => seconds.samples({ [names.kind]: kind })),
      },
    ],
  }
}
