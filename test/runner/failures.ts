/** Lines of context around the name of a failed test: the error may precede or follow it. */
const BEFORE = 30
const AFTER = 25

const RESULT = /^\((?:pass|fail|skip|todo)\) /
const FILE = /^test\/.*\.test\.ts:$/
const SUMMARY = /^ ?\d+ (?:pass|tests? failed:|tests skipped:)/

/**
 * Extracts each failed test from the output of a run: its file, its name and the lines around it. Bun prints
 * failures where they occur, thousands of lines before the end, which is all that is kept of some runs.
 */
export function failuresIn(output: string): string[] {
  const lines = Bun.stripANSI(output).split('\n')
  const end = lines.findIndex((line) => SUMMARY.test(line))
  const told = end === -1 ? lines : lines.slice(0, end)
  return told.flatMap((line, index) => {
    if (!line.startsWith('(fail) ')) return []
    const file = told.slice(0, index).findLast((earlier) => FILE.test(earlier)) ?? ''
    const before = told.slice(Math.max(0, index - BEFORE), index)
    const after = told.slice(index + 1, index + 1 + AFTER)
    const start = before.findLastIndex(isBorder) + 1
    const stop = after.findIndex(isBorder)
    const around = [...before.slice(start), line, ...after.slice(0, stop === -1 ? AFTER : stop)]
    return [`${file}\n${around.join('\n').trim()}`]
  })
}

function isBorder(line: string): boolean {
  return RESULT.test(line) || FILE.test(line)
}
