import type { StatisticsNow } from '../../../src/contract/operations.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'

/** Names the newest proxy that nobody configured, and the setting for all of them; nothing where there is none. */
export function ProxyWarning({ now }: { readonly now: StatisticsNow }) {
  const { overview } = useAdmin().texts
  const last = now.unknown_proxies.at(-1)
  if (last === undefined) return null
  const peers = now.unknown_proxies.map(({ peer }) => peer).join(',')
  return (
    <p className="failure" role="alert">
      {fill(overview.unknownProxy, { ...last, setting: `HOLDFAST_TRUSTED_PROXIES=${peers}` })}
    </p>
  )
}
