import { useCallback } from 'react'
import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { AccountFacts } from './account-facts.tsx'
import { AccountMarks } from './account-marks.tsx'
import { useAdmin } from './admin-context.ts'
import { fetchAccount } from './client.ts'
import { pathOf } from './data.ts'
import { QuotaPart } from './quota-part.tsx'
import { RemovePart } from './remove-part.tsx'
import { ResetPart } from './reset-part.tsx'
import { AccessPart, AdministrationPart } from './switch-parts.tsx'

/** One account, and all that can be done about it. */
export function AccountView({ id }: { id: number }) {
  const { account: texts } = useAdmin().texts
  const fetchIt = useCallback(() => fetchAccount(id), [id])
  const { answered, again } = useAnswer(fetchIt)
  return (
    <>
      <a className="up" href={pathOf('accounts')}>
        {texts.all}
      </a>
      <Loaded again={again} answered={answered}>
        {(account) => (
          <>
            <Part title={account.username}>
              {account.is_admin || account.disabled_at !== null ? (
                <p className="row-name">
                  <AccountMarks account={account} />
                </p>
              ) : null}
              <AccountFacts account={account} />
            </Part>
            <QuotaPart account={account} changed={again} />
            <AccessPart account={account} changed={again} />
            <AdministrationPart account={account} changed={again} />
            <ResetPart account={account} changed={again} />
            <RemovePart account={account} />
          </>
        )}
      </Loaded>
    </>
  )
}
