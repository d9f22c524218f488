import type { StatisticsOutage } from '../../../src/contract/operations.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { useMoments } from '../use-moments.ts'

/** The last times in which the service did not run, or its clock leapt; nothing where there was none. */
export function OutageList({ outages }: { readonly outages: readonly StatisticsOutage[] }) {
  const { overview } = useAdmin().texts
  const moment = useMoments()
  if (outages.length === 0) return null
  return (
    <section aria-labelledby="outages">
      <h3 id="outages">{overview.outages}</h3>
      <p className="small quiet">{overview.outagesWhy}</p>
      <ul className="plain-rows">
        {outages.map(({ began_at: from, ended_at: to, cause }) => (
          <li key={`${from} ${to}`}>
            {fill(overview.outageCauses[cause], { from: moment(from), to: moment(to) })}
          </li>
        ))}
      </ul>
    </section>
  )
}
