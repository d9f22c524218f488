import { plainLines } from '../client/plain-text.ts'
import type { Transfer, Watch } from '../client/watch.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import { formatTime } from './words.ts'

/** Where progress is shown, and where it is not: bars are for people alone. */
export interface BarTerminal {
  readonly stream: NodeJS.WriteStream
  readonly clock: Pick<Clock, 'monotonic'>
}

export interface ShownWatch extends Watch {
  /** Runs what writes to the terminal, with the bars out of its way. */
  aside(write: () => void): void
  /** Keeps the bars away while a person is asked. */
  paused<T>(ask: () => Promise<T>): Promise<T>
  /** Takes the bars away. */
  end(): void
}

/** Milliseconds between two looks. */
const OFTEN = SECOND / 10
/** More bars than this would fill the screen. */
const MOST_BARS = 8
const BAR = 24
/** The speed is that of the last seconds. */
const SPEED_OVER = 5 * SECOND

interface Row {
  readonly name: string
  readonly size: number | null
  readonly speed: Speed
  position: number
}

/** Lines on standard error for what has to be known, and nothing else. */
export function plainWatch(print: (text: string) => void): ShownWatch {
  return {
    begin: () => ({ at: () => {}, end: () => {} }),
    expect: () => {},
    say: (text) => print(`${text}\n`),
    aside: (write) => write(),
    paused: (ask) => ask(),
    end: () => {},
  }
}

/** A bar for each file on its way, and one for all of them together. */
export async function barWatch({ stream, clock }: BarTerminal): Promise<ShownWatch> {
  // Loaded only for a terminal: it takes longer than a small upload does.
  const { createLogUpdate } = await import('log-update')
  const log = createLogUpdate(stream)
  const rows = new Set<Row>()
  const total = { files: 0, bytes: 0, filesDone: 0, bytesDone: 0, speed: createSpeed(clock) }
  let isPaused = false
  const timer = setInterval(draw, OFTEN)
  // The bars keep no command alive.
  timer.unref()

  function draw(): void {
    if (rows.size === 0 || isPaused) return
    const width = Math.max(40, stream.columns ?? 80)
    const shown = [...rows].slice(0, MOST_BARS)
    const lines = shown.map(({ name, size, position, speed }) => line(width, name, position, size, speed))
    if (total.files > 1) {
      const done = [...rows].reduce((sum, { position }) => sum + position, total.bytesDone)
      const title = `${total.filesDone} of ${total.files} files`
      lines.push(line(width, title, done, total.bytes, total.speed))
    }
    log(lines.join('\n'))
  }

  function aside(write: () => void): void {
    log.clear()
    write()
    draw()
  }

  return {
    expect(files, bytes) {
      total.files = files
      total.bytes = bytes
    },
    begin(name, size, done): Transfer {
      const row: Row = { name, size, position: done, speed: createSpeed(clock) }
      rows.add(row)
      return {
        at(position) {
          const more = position - row.position
          row.position = position
          row.speed.moved(more)
          total.speed.moved(more)
        },
        end() {
          if (!rows.delete(row)) return
          total.filesDone += 1
          total.bytesDone += row.size ?? row.position
        },
      }
    },
    say: (text) => aside(() => stream.write(`${plainLines(text)}\n`)),
    aside,
    async paused(ask) {
      isPaused = true
      log.clear()
      try {
        return await ask()
      } finally {
        isPaused = false
      }
    },
    end() {
      clearInterval(timer)
      log.clear()
      log.done()
    },
  }
}

function line(width: number, name: string, done: number, size: number | null, speed: Speed): string {
  const rate = speed.perSecond()
  const amounts = size === null ? formatSize(done) : `${formatSize(done)} of ${formatSize(size)}`
  const facts = [amounts, `${formatSize(Math.round(rate))}/s`]
  if (size !== null && rate > 0 && done < size)
    facts.push(`${formatTime(((size - done) / rate) * SECOND)} left`)
  const bar = size === null ? '' : ` ${drawBar(size === 0 ? 1 : done / size)}`
  const rest = `${bar} ${facts.join(', ')}`
  return `${fitted(name, Math.max(8, Math.min(32, width - rest.length - 1)))}${rest}`
}

function drawBar(part: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, part)) * BAR)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`
}

/** Exactly so many columns, with the end of a name that is longer: it tells more than the beginning. */
function fitted(name: string, columns: number): string {
  let shown = name.replace(/\p{Cc}/gu, ' ')
  if (Bun.stringWidth(shown) > columns) {
    const characters = [...shown]
    while (characters.length > 0 && Bun.stringWidth(characters.join('')) > columns - 1) characters.shift()
    shown = `…${characters.join('')}`
  }
  return shown + ' '.repeat(Math.max(0, columns - Bun.stringWidth(shown)))
}

interface Speed {
  moved(bytes: number): void
  perSecond(): number
}

function createSpeed(clock: Pick<Clock, 'monotonic'>): Speed {
  const began = clock.monotonic()
  const steps: { at: number; bytes: number }[] = []
  return {
    moved(bytes) {
      // What has to be sent again is no speed backwards.
      if (bytes <= 0) return
      const at = Math.floor(clock.monotonic() / OFTEN) * OFTEN
      const last = steps.at(-1)
      if (last?.at === at) last.bytes += bytes
      else steps.push({ at, bytes })
    },
    perSecond() {
      const now = clock.monotonic()
      while (steps[0] !== undefined && steps[0].at < now - SPEED_OVER) steps.shift()
      const seconds = Math.max(OFTEN, Math.min(SPEED_OVER, now - began)) / SECOND
      return steps.reduce((sum, { bytes }) => sum + bytes, 0) / seconds
    },
  }
}
