/** Tables and goals in Markdown, their place in results.md, and a line for each run in history.jsonl. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Figures, GIB, type Measured, MIB, OURS } from './measure.ts'

const PAGE = join(import.meta.dir, 'results.md')
const HISTORY = join(import.meta.dir, 'history.jsonl')

export interface Run {
  /** First-level heading of its section, unique in results.md. */
  readonly heading: string
  /** Which program of the benchmark made it. */
  readonly program: string
  readonly rounds: number
  /** Peers with their versions. */
  readonly peers: readonly string[]
  /** What was left out, and how to get it. */
  readonly missing: readonly string[]
  readonly measured: readonly Measured[]
}

/** The section of the run; the first contender of each scenario is what the others are compared with. */
export function sectionOf(run: Run): string {
  const lines = [
    ...headOf(run),
    ...goalLines(run.measured),
    ...run.measured.flatMap(({ scenario, figures }) => {
      const behind = [...new Set(figures.flatMap((row) => Object.keys(row.behind)))]
      const [reference] = figures
      return [
        `## ${scenario.title}`,
        '',
        `| | ${scenario.unit} | lowest–highest | ${reference?.name} ÷ this | CPU s per ${scenario.per} |${behind.map((name) => ` of ${name} |`).join('')} peak MiB |`,
        `|---|${'---:|'.repeat(5 + behind.length)}`,
        ...figures.map((row) => rowOf(row, reference, behind)),
        '',
      ]
    }),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}

/** Heading, machine and peers of a section. */
export function headOf({ heading, program, rounds, peers, missing }: Omit<Run, 'measured'>): string[] {
  return [
    `# ${heading}`,
    '',
    `Written by \`npm run bench -- ${program}\`; [README.md](README.md) tells what each figure means.`,
    '',
    `- ${new Date().toISOString().slice(0, 10)}, medians of ${rounds} rounds, commit ${commit()}`,
    `- ${machine()}`,
    ...peers.map((line) => `- ${line}`),
    ...missing.map((line) => `- **not measured:** ${line}`),
    '',
  ]
}

/** An integer with commas between thousands. */
export function amount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 })
}

/** Puts the section in the place of the one with the same heading in results.md, or at its end. */
export function writeSection(section: string): void {
  const [heading] = section.split('\n', 1)
  const others = existsSync(PAGE) ? readFileSync(PAGE, 'utf8').split(/^(?=# )/m) : []
  const at = others.findIndex((other) => other.split('\n', 1)[0] === heading)
  const sections = at === -1 ? [...others, section] : others.with(at, section)
  writeFileSync(PAGE, `${sections.map((each) => each.trim()).join('\n\n')}\n`)
}

/** Appends the run to history.jsonl: rates and processor seconds by scenario and contender. */
export function recordRun({ program, rounds, measured }: Run): void {
  const scenarios = measured.map(({ scenario: { title, unit, per }, figures }) => ({
    title,
    unit,
    per,
    figures: figures.map(({ name, rate, cpu }) => ({ name, rate: short(rate), cpu: cpu && short(cpu) })),
  }))
  const line = {
    bench: program,
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    rounds,
  }
  appendFileSync(HISTORY, `${JSON.stringify({ ...line, scenarios })}\n`)
}

/** What interprets the figures, and does not identify the machine. */
function machine(): string {
  const memory = Math.round(totalmem() / GIB)
  const processor = cpus()[0]?.model.trim() ?? 'unknown'
  return `${availableParallelism()} cores (${processor}), ${memory} GiB of memory, Linux ${release().split('-')[0]}, Bun ${Bun.version}`
}

/** Short hash of the measured commit, with `+` when files of `src` have changed since. */
function commit(): string {
  const git = (...words: string[]) =>
    Bun.spawnSync(['git', ...words], { cwd: import.meta.dir })
      .stdout.toString()
      .trim()
  return (
    (git('rev-parse', '--short', 'HEAD') || 'unknown') +
    (git('status', '--porcelain', '--', '../src') === '' ? '' : '+')
  )
}

function goalLines(measured: readonly Measured[]): string[] {
  const goals = measured.flatMap(({ scenario, figures }) => {
    const ours = figures.find(({ name }) => name === OURS)
    return (scenario.goals ?? []).map(({ least, of }) => {
      const peer = figures.find(({ name }) => name === of)
      const ratio = ours === undefined || peer === undefined ? null : ours.rate / peer.rate
      const reached = ratio === null ? 'not measured' : ratio >= least ? 'reached' : '**missed**'
      return `| ${scenario.title} | ${least.toFixed(2)} × ${of} | ${ratio?.toFixed(2) ?? ''} | ${reached} |`
    })
  })
  return goals.length === 0 ? [] : ['| goals | at least | reached | |', '|---|---|---:|---|', ...goals, '']
}

function rowOf(row: Figures, reference: Figures | undefined, behind: readonly string[]): string {
  const cells = [
    row.name,
    amount(row.rate),
    `${amount(row.lowest)}–${amount(row.highest)}`,
    reference === undefined || row === reference ? '' : (reference.rate / row.rate).toFixed(2),
    row.cpu === null ? '' : short(row.cpu).toString(),
    ...behind.map((name) => row.behind[name]?.toFixed(3) ?? ''),
    row.peak === null ? '' : (row.peak / MIB).toFixed(0),
  ]
  return `| ${cells.join(' | ')} |`
}

/** Three digits, which are more than a second run repeats. */
function short(value: number): number {
  return Number(value.toPrecision(3))
}
