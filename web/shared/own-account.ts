import { ACCOUNT_HEADER } from '../../src/contract/account-header.ts'

let headers: Readonly<Record<string, string>> = {}

/** Makes all that the page asks for be for this account, by its number; undefined on a page for nobody in particular. */
export function askForAccount(account: string | undefined): void {
  headers = account === undefined ? {} : { [ACCOUNT_HEADER]: account }
}

/** Headers by which only the account that the page was made for is answered. */
export function ownAccount(): Readonly<Record<string, string>> {
  return headers
}
