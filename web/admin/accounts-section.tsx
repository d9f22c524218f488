import { AccountList } from './account-list.tsx'
import { AccountView } from './account-view.tsx'
import { askedPage, askedText } from './address.ts'

/** All accounts, or the one in the address. */
export function AccountsSection() {
  return askedText('account') === '' ? <AccountList /> : <AccountView id={askedPage('account')} />
}
