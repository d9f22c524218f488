import { plainJson, plainLines, withoutControls } from '../client/plain-text.ts'

/**
 * Results are written to standard output, problems to standard error. Control characters are removed from
 * both, because names and messages may be chosen by strangers.
 */
export function printLines(...lines: readonly string[]): void {
  process.stdout.write(`${plainLines(lines.join('\n'))}\n`)
}

/** Writes a problem, or what somebody should know, to standard error. */
export function printProblem(line: string): void {
  process.stderr.write(`${plainLines(line)}\n`)
}

/** Writes one line of JSON, for programs. */
export function printJson(value: unknown): void {
  printLines(plainJson(value))
}

/** Writes columns as wide as their widest cell, two spaces apart. */
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

/** Writes one line per name and value, with the values aligned. */
export function printPairs(pairs: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs) printLines(`${padded(name, width)}  ${value}`)
}

/** Pads by display width: some characters take two columns, and some none. */
function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)))
}
