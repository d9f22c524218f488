import type { AdminAccountDetail } from '../../../src/contract/administration.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { useMoments } from '../use-moments.ts'

/** What is known of an account. */
export function AccountFacts({ account }: { account: AdminAccountDetail }) {
  const { texts, words } = useAdmin()
  const { account: names, accounts } = texts
  const moment = useMoments()
  const storage = { used: words.size(account.storage_used), limit: words.size(account.storage_limit) }
  const ways = [
    ...(account.has_password ? [names.password] : []),
    ...(account.has_codes ? [names.codes] : []),
    ...(account.has_mail ? [names.mail] : []),
    ...(account.passkeys > 0 ? [words.count(account.passkeys, names.passkeys)] : []),
  ]
  const facts = [
    ...(account.display_name === null ? [] : [[names.displayName, account.display_name] as const]),
    [names.created, moment(account.created_at)],
    [names.lastSeen, account.last_seen_at === null ? names.never : moment(account.last_seen_at)],
    [names.signsIn, ways.length === 0 ? names.noWay : ways.join(', ')],
    [names.sessions, words.number(account.sessions)],
    [names.keys, words.number(account.keys)],
    [names.requests, words.number(account.api_requests_today)],
    [names.files, words.number(account.files_count)],
    [names.folders, words.number(account.folders_count)],
    [names.stored, fill(accounts.storage, storage)],
    [names.inBin, words.size(account.storage_in_bin)],
    [
      names.inactive,
      account.expires_after_days === null
        ? names.neverDeleted
        : words.count(account.expires_after_days, names.deletedAfter),
    ],
  ] as const
  return (
    <dl aria-label={names.facts} className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="quiet">{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}
