import type { Database } from '../../../src/database/database.ts'
import type { Language } from '../../../src/domain/account.ts'
import type { AccountId } from '../../../src/domain/ids.ts'
import { foldMailAddress, type MailAddress, parseMailAddress } from '../../../src/domain/mail-address.ts'

interface MailSettings {
  readonly language?: Language
  readonly warnings?: 0 | 1
}

/** Gives the account a mail address, as if it had been verified. */
export async function verifyAddress(
  db: Database,
  account: number,
  text: string,
  { language = 'en', warnings = 1 }: MailSettings = {},
): Promise<MailAddress> {
  const address = parseMailAddress(text) as MailAddress
  const verified = { account_id: account as AccountId, address, address_folded: foldMailAddress(address) }
  await db
    .insertInto('mail_addresses')
    .values({ ...verified, language, warnings })
    .execute()
  return address
}
