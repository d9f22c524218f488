/** Results of commands go to standard output; what goes wrong goes to standard error. */
export function printLines(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** One line of JSON, for programs. */
export function printJson(value: unknown): void {
  printLines(JSON.stringify(value))
}

/** Columns as wide as their widest cell, two spaces apart. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of [heads, ...rows]) {
    printLines(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}
