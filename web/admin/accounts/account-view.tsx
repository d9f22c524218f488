import { useCallback } from 'react'
import { Loaded } from '../../shared/app/loaded.tsx'
import { PageSection } from '../../shared/app/part.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { useAdmin } from '../admin-context.ts'
import { fetchAnyAccount } from '../client.ts'
import { adminPath } from '../data.ts'
import { AccountFacts } from './account-facts.tsx'
import { AccountMarks } from './account-marks.tsx'
import { InactivityPart } from './inactivity-part.tsx'
import { QuotaPart } from './quota-part.tsx'
import { RemovePart } from './remove-part.tsx'
import { ResetPart } from './reset-part.tsx'
import { AccessPart, AdministrationPart } from './switch-parts.tsx'

/** One account, and all that can be done about it. */
export function AccountView({ id }: { id: number }) {
  const { account: texts } = useAdmin().texts
  const fetchIt = useCallback(() => fetchAnyAccount(id), [id])
  const { answered, again } = useAnswer(fetchIt)
  return (
    <>
      <a className="up" href={adminPath('accounts')}>
        {texts.all}
      </a>
      <Loaded again={again} answered={answered}>
        {(account) => (
          <>
            <PageSection title={account.username}>
              {account.is_admin || account.disabled_at !== null ? (
                <p className="row-name">
                  <AccountMarks account={account} />
                </p>
              ) : null}
              <AccountFacts account={account} />
            </PageSection>
            <QuotaPart account={account} changed={again} />
            <InactivityPart account={account} changed={again} />
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
