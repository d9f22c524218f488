import type { MetricSample } from './exposition.ts'

export interface Histogram {
  observe(value: number): void
  /** Cumulative buckets, as Prometheus expects them. */
  samples(labels?: MetricSample['labels']): readonly MetricSample[]
}

/** `bounds`: ascending upper bounds; larger values go into a last, implicit bucket. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    observe(value) {
      let at = 0
      while (value > (bounds[at] ?? Number.POSITIVE_INFINITY)) at++
      counts[at] = (counts[at] ?? 0) + 1
      sum += value
    },

    samples(labels = {}) {
      let count = 0
      const buckets = Array.from(counts, (inBucket, at): MetricSample => {
        count += inBucket
        const le = at < bounds.length ? String(bounds[at]) : '+Inf'
        return { labels: { ...labels, le }, value: count, suffix: '_bucket' }
      })
      return [...buckets, { labels, value: sum, suffix: '_sum' }, { labels, value: count, suffix: '_count' }]
    },
  }
}
