import type { AdminAccount } from '../../../src/contract/administration.ts'
import { useAdmin } from '../admin-context.ts'

/** What is unusual about an account. */
export function AccountMarks({ account }: { account: AdminAccount }) {
  const { accounts } = useAdmin().texts
  return (
    <>
      {account.is_admin ? <span className="badge small">{accounts.administrator}</span> : null}
      {account.disabled_at === null ? null : <span className="badge-bad small">{accounts.disabled}</span>}
    </>
  )
}
