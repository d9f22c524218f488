/** Parses /metrics as Prometheus does. */
import { type At, bearer, visit } from './public.ts'

export interface Metrics {
  /** Names of all families, with or without samples. */
  readonly names: readonly string[]
  /** Sum of the samples with all of these labels; 0 when there are none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number
  /** Values of a label within a family. */
  values(name: string, label: string): string[]
}

export async function readMetrics(host: At, token: string): Promise<Metrics> {
  const response = await visit(host, '/metrics', { headers: bearer(token) })
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`)
  return parseMetrics(await response.text())
}

const SAMPLE = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g

/** Throws for a line that is not in the text format. */
export function parseMetrics(text: string): Metrics {
  const lines = text.trimEnd().split('\n')
  const samples = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? []
      if (name === '' || Number.isNaN(Number(value))) throw new Error(`no sample: ${line}`)
      const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text] as const)
      return { name, labels: new Map(pairs), value: Number(value) }
    })
  return {
    names: lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' ')[2] ?? ''),
    sum: (wanted, labels = {}) =>
      samples
        .filter(({ name, labels: its }) => {
          return name === wanted && Object.entries(labels).every(([label, value]) => its.get(label) === value)
        })
        .reduce((sum, { value }) => sum + value, 0),
    values: (wanted, label) => [
      ...new Set(samples.filter(({ name }) => name === wanted).map(({ labels }) => labels.get(label) ?? '')),
    ],
  }
}
