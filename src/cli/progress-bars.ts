import { plainLines } from '../client/failure.ts'
import type { TransferProgress, WatchedTransfer } from '../client/upload-job.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import { formatSize } from '../domain/sizes.ts'
import { formatTime } from './output.ts'

export interface BarTerminal {
  readonly stream: NodeJS.WriteStream
  readonly clock: Pick<Clock, 'monotonic'>
}

export interface ShownProgress extends TransferProgress {
  /** Clears the bars while it runs. */
  aside(write: () => void): void
  paused<T>(ask: () => Promise<T>): Promise<T>
  end(): void
}

const UPDATE_INTERVAL = SECOND / 10
const MOST_BARS = 8
const BAR = 24
const SPEED_OVER = 5 * SECOND

interface Row {
  readonly name: string
  readonly size: number | null
  readonly speed: Speed
  position: number
}

export function plainProgress(print: (text: string) => void): ShownProgress {
  return {
    begin: () => ({ at: () => {}, end: () => {} }),
    expect: () => {},
    say: (text) => print(`${text}\n`),
    aside: (write) => write(),
    paused: (ask) => ask(),
    end: () => {},
  }
}

export async function barProgress({ stream, clock }: BarTerminal): Promise<ShownProgress> {
  // Loading takes longer than a small upload.
  const { createLogUpdate } = await import('log-update')
  const log = createLogUpdate(stream)
  const rows = new Set<Row>()
  const total = { files: 0, bytes: 0, filesDone: 0, bytesDone: 0, speed: createSpeed(clock) }
  let isPaused = false
  const timer = setInterval(draw, UPDATE_INTERVAL)
  // The timer must not keep the process alive.
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
    begin(name, size, done): WatchedTransfer {
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

/** Exactly that many columns. Keeps the name's end, which tells more. */
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
      // Negative progress, after a retry, does not count.
      if (bytes <= 0) return
      const at = Math.floor(clock.monotonic() / UPDATE_INTERVAL) * UPDATE_INTERVAL
      const last = steps.at(-1)
      if (last?.at === at) last.bytes += bytes
      else steps.push({ at, bytes })
    },
    perSecond() {
      const now = clock.monotonic()
      while (steps[0] !== undefined && steps[0].at < now - SPEED_OVER) steps.shift()
      const seconds = Math.max(UPDATE_INTERVAL, Math.min(SPEED_OVER, now - began)) / SECOND
      return steps.reduce((sum, { bytes }) => sum + bytes, 0) / seconds
    },
  }
}
