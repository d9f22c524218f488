import { plainJson, plainLines, withoutControls } from '../client/failure.ts'
import { HOUR, MINUTE, SECOND } from '../domain/clock.ts'
import { isoMoment, zoneHere } from '../domain/days.ts'

/** Removes control characters, since strangers may choose names and messages. */
export function printLines(...lines: readonly string[]): void {
  process.stdout.write(`${plainLines(lines.join('\n'))}\n`)
}

export function printProblem(line: string): void {
  process.stderr.write(`${plainLines(line)}\n`)
}

export function printJson(value: unknown): void {
  printLines(plainJson(value))
}

export function printTable(heads: readonly string[], given: readonly (readonly string[])[]): void {
  const rows = given.map((row) => row.map(withoutControls))
  const widths = heads.map((head, column) =>
    rows.reduce((widest, row) => Math.max(widest, Bun.stringWidth(row[column] ?? '')), head.length),
  )
  for (const row of [heads, ...rows]) {
    printLines(
      row
        .map((cell, column) => padded(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

export function printPairs(pairs: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs) printLines(`${padded(name, width)}  ${value}`)
}

/** By display width: some characters take two columns, and some none. */
function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)))
}

/** `45 s`, `12 min`, `3 h 5 min`. */
export function formatTime(milliseconds: number): string {
  if (milliseconds < MINUTE) return `${Math.ceil(milliseconds / SECOND)} s`
  if (milliseconds < HOUR) return `${Math.round(milliseconds / MINUTE)} min`
  const minutes = Math.round(milliseconds / MINUTE)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}

/** In the local time zone, to the minute. */
export function shortTime(iso: string): string {
  return isoMoment(Date.parse(iso), zoneHere()).slice(0, 16)
}
