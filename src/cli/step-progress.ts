import { type Clock, SECOND } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import { formatTime } from './output.ts'

export interface Terminal {
  readonly rewrites: boolean
  /** Width of a line: a longer one would wrap and could not be overwritten. */
  columns(): number
  write(text: string): void
}

export const standardError: Terminal = {
  rewrites: process.stderr.isTTY,
  columns: () => (process.stderr.columns || USUAL_COLUMNS) - 1,
  write: (text) => process.stderr.write(text),
}

const USUAL_COLUMNS = 80

/** Milliseconds between two updates, on a terminal and elsewhere. */
const TERMINAL_INTERVAL = SECOND / 4
const PLAIN_INTERVAL = 10 * SECOND

export interface StepTitle {
  readonly title: string
  readonly counts: 'nothing' | 'items' | 'bytes'
}

interface StepWatch<Step> {
  begin(step: Step, total: { readonly count: number; readonly bytes: number }): void
  /** `wasThere`: done by an earlier run. */
  advance(done: { readonly count: number; readonly bytes: number; readonly wasThere: boolean }): void
}

/** One updated line on a terminal, occasional lines elsewhere. */
export function stepProgress<Step extends string>(
  titles: Readonly<Record<Step, StepTitle>>,
  terminal: Terminal,
  clock: Pick<Clock, 'monotonic'>,
): StepWatch<Step> & { end(): void } {
  let step: Step | null = null
  let total = { count: 0, bytes: 0 }
  let done = { count: 0, bytes: 0 }
  let now = { count: 0, bytes: 0 }
  let began = 0
  let told = 0
  /** The next line must cover the last one. */
  let width = 0
  let said = ''

  function tell(text: string): void {
    const shown = terminal.rewrites ? text.slice(0, Math.max(0, terminal.columns())) : text
    terminal.write(terminal.rewrites ? `\r${shown.padEnd(width)}` : `${shown}\n`)
    width = shown.length
    told = clock.monotonic()
    said = text
  }

  function amounts(): string {
    if (step === null || titles[step].counts === 'nothing') return ''
    const counts = `${done.count} of ${total.count}`
    if (titles[step].counts !== 'bytes') return `: ${counts}`
    const sizes = `${formatSize(done.bytes)} of ${formatSize(total.bytes)}`
    return `: ${[counts, sizes, ...rate()].join(', ')}`
  }

  function rate(): string[] {
    const seconds = (clock.monotonic() - began) / SECOND
    if (seconds < 1 || now.bytes === 0) return []
    const perSecond = now.bytes / seconds
    const left = total.bytes - done.bytes
    const speed = `${formatSize(Math.round(perSecond))}/s`
    return left > 0 ? [speed, `${formatTime((left / perSecond) * SECOND)} left`] : [speed]
  }

  function finishStep(): void {
    if (step === null) return
    const text = `${titles[step].title}${amounts()}`
    // Elsewhere, no line twice.
    if (terminal.rewrites || text !== said) tell(text)
    if (terminal.rewrites) terminal.write('\n')
    width = 0
  }

  return {
    begin(next, amount) {
      finishStep()
      step = next
      total = { count: amount.count, bytes: amount.bytes }
      done = { count: 0, bytes: 0 }
      now = { count: 0, bytes: 0 }
      began = clock.monotonic()
      tell(`${titles[next].title}${amounts()}`)
    },

    advance({ count, bytes, wasThere }) {
      // Items may have been added since the count.
      done = {
        count: Math.min(total.count, done.count + count),
        bytes: Math.min(total.bytes, done.bytes + bytes),
      }
      if (!wasThere) now = { count: now.count + count, bytes: now.bytes + bytes }
      if (clock.monotonic() - told < (terminal.rewrites ? TERMINAL_INTERVAL : PLAIN_INTERVAL)) return
      if (step !== null) tell(`${titles[step].title}${amounts()}`)
    },

    end() {
      finishStep()
      step = null
    },
  }
}
