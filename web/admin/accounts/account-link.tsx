import type { Owner } from '../../../src/contract/administration.ts'
import { useAdmin } from '../admin-context.ts'
import { adminPath } from '../data.ts'

/** Leads to the account; null: a guest. */
export function AccountLink({ account }: { account: Owner | null }) {
  const { guest } = useAdmin().texts.common
  return account === null ? guest : <a href={accountAddress(account.id)}>{account.username}</a>
}

export function accountAddress(id: number): string {
  return `${adminPath('accounts')}?account=${id}`
}
