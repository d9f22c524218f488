import { ACCOUNT_HEADER } from '../../src/contract/account-header.ts'

let headers: Readonly<Record<string, string>> = {}

/** Restricts the page's requests to this account. */
export function askForAccount(account: string | undefined): void {
  headers = account === undefined ? {} : { [ACCOUNT_HEADER]: account }
}

/** The server refuses these for any other session. */
export function ownAccount(): Readonly<Record<string, string>> {
  return headers
}
