import { type BenchFigures, GIB, type Measured, MIB } from './measure.ts'

/**
 * A Markdown section with the table of one scenario. `reference`: the contender that the others are compared
 * with.
 */
export function table({ scenario, figures }: Measured, reference: string): string[] {
  const compared = figures.find((row) => row.name === reference)
  const behind = [...new Set(figures.flatMap((row) => Object.keys(row.behind)))]
  const columns = [
    `${scenario.unit} (median)`,
    'lowest–highest',
    `${reference} ÷ this`,
    `CPU s per ${scenario.per}`,
    ...(scenario.fileSize === undefined ? [] : ['CPU ms per file']),
    ...behind.map((name) => `of ${name}`),
    'peak memory, MiB',
  ]
  return [
    `## ${scenario.title}`,
    '',
    `| | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '---:|').join('')}`,
    ...figures.map((row) => line(row, compared, behind, scenario.fileSize)),
    '',
  ]
}

/** An integer with commas between thousands. */
export function amount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

function line(
  row: BenchFigures,
  compared: BenchFigures | undefined,
  behind: readonly string[],
  fileSize: number | undefined,
): string {
  return [
    '',
    row.name,
    amount(row.rate),
    `${amount(row.lowest)}–${amount(row.highest)}`,
    row === compared || compared === undefined ? '' : (compared.rate / row.rate).toFixed(2),
    seconds(row.cpu),
    ...(fileSize === undefined ? [] : [seconds(row.cpu && (row.cpu * 1000 * fileSize) / GIB)]),
    ...behind.map((name) => seconds(row.behind[name])),
    row.peakBytes === null ? '' : (row.peakBytes / MIB).toFixed(0),
    '',
  ]
    .join(' | ')
    .trim()
}

function seconds(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : value.toFixed(2)
}
