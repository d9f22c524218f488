import { plainJson, plainLines, plainText } from '../client/plain-text.ts'

/**
 * Results of commands go to standard output; what goes wrong goes to standard error. Of names and messages, whoever has
 * written them, a terminal gets no control characters.
 */
export function printLines(...lines: readonly string[]): void {
  process.stdout.write(`${plainLines(lines.join('\n'))}\n`)
}

/** To standard error. */
export function printProblem(line: string): void {
  process.stderr.write(`${plainLines(line)}\n`)
}

/** One line of JSON, for programs. */
export function printJson(value: unknown): void {
  printLines(plainJson(value))
}

/** Columns as wide as their widest cell, two spaces apart. */
export function printTable(heads: readonly string[], given: readonly (readonly string[])[]): void {
  const rows = given.map((row) => row.map(plainText))
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

/** A line for each name with its value, the values below each other. */
export function printPairs(pairs: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs) printLines(`${padded(name, width)}  ${value}`)
}

/** Some characters take two columns, and some none. */
function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)))
}
