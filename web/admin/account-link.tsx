import { useAdmin } from './admin-context.ts'
import { pathOf } from './data.ts'
import type { Owner } from './shapes.ts'

/** Leads to the account; null: a guest. */
export function AccountLink({ account }: { account: Owner | null }) {
  const { guest } = useAdmin().texts.common
  return account === null ? guest : <a href={accountAddress(account.id)}>{account.username}</a>
}

export function accountAddress(id: number): string {
  return `${pathOf('accounts')}?account=${id}`
}
