import type { Statistics } from '../../../src/contract/operations.ts'
import { Chart } from '../../shared/charts/chart.tsx'
import { useShortDays } from '../../shared/charts/use-short-days.ts'
import { useAdmin } from '../admin-context.ts'
import { type Samples, samplesOf } from './samples.ts'

/** What the server did, and what it held, day by day. */
export function OverTime({ days, now }: Statistics) {
  const { texts, words } = useAdmin()
  const { overview } = texts
  const shortDay = useShortDays()
  const common = { asTable: texts.common.asTable, labelsAre: overview.day }
  const labels = days.map(({ day }) => shortDay(day))
  const counts = { ...common, measure: 'count', format: words.number } as const
  const bytes = { ...common, measure: 'bytes', format: words.size } as const
  const sampled = ({ days: some, values }: Samples, name: string) => ({
    labels: some.map(shortDay),
    series: [{ name, values }],
  })
  return (
    <div className="charts" id="over-time">
      <Chart
        {...counts}
        labels={labels}
        series={[{ name: overview.requestsSeries, values: days.map(({ requests }) => requests) }]}
        title={overview.requestsChart}
      />
      <Chart
        {...bytes}
        {...sampled(samplesOf('storage_used', days, now), overview.storageSeries)}
        title={overview.storageChart}
      />
      <Chart
        {...bytes}
        labels={labels}
        series={[
          { name: overview.bytesOut, values: days.map((day) => day.bytes_out) },
          { name: overview.bytesIn, values: days.map((day) => day.bytes_in) },
        ]}
        title={overview.trafficChart}
      />
      <Chart
        {...counts}
        labels={labels}
        series={[
          { name: overview.downloads, values: days.map((day) => day.downloads) },
          { name: overview.uploads, values: days.map((day) => day.uploads) },
        ]}
        title={overview.transfersChart}
      />
      <Chart
        {...counts}
        {...sampled(samplesOf('files', days, now), overview.files)}
        title={overview.filesChart}
      />
      <Chart
        {...counts}
        {...sampled(samplesOf('accounts', days, now), overview.accounts)}
        title={overview.accountsChart}
      />
    </div>
  )
}
