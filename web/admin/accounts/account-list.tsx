import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { AdminAccount } from '../../../src/contract/administration.ts'
import { ACCOUNT_SORTS, ACCOUNT_STATES } from '../../../src/domain/account.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { type AccountsQuery, fetchAccounts, invite } from '../client.ts'
import { askedChoice, askedText } from '../lists/address.ts'
import { PagedList } from '../lists/paged-list.tsx'
import { SelectField } from '../lists/select-field.tsx'
import { accountAddress } from './account-link.tsx'
import { AccountMarks } from './account-marks.tsx'
import { LinkDialog } from './link-dialog.tsx'

const query: AccountsQuery = {
  search: askedText('search').slice(0, 100),
  state: askedChoice('state', ACCOUNT_STATES),
  sort: askedChoice('sort', ACCOUNT_SORTS),
}
const fetchPage = (page: number) => fetchAccounts(query, page)

/** All accounts, and the way for somebody to get one. */
export function AccountList() {
  const { data, texts } = useAdmin()
  const { accounts } = texts
  const [isInviting, setIsInviting] = useState(false)
  return (
    <PageSection title={accounts.title}>
      {data.canInvite ? (
        <Button className="add" onClick={() => setIsInviting(true)} variant="default">
          {accounts.invite}
        </Button>
      ) : null}
      <Filters />
      <PagedList empty={accounts.empty} fetchPage={fetchPage}>
        {(account) => <AccountRow account={account} key={account.id} />}
      </PagedList>
      {isInviting ? (
        <LinkDialog
          act={invite}
          close={() => setIsInviting(false)}
          label={accounts.invited}
          title={accounts.invite}
          verb={accounts.invite}
          why={accounts.inviteWhy}
        />
      ) : null}
    </PageSection>
  )
}

/** A plain form: what is chosen stands in the address then. */
function Filters() {
  const { accounts, common } = useAdmin().texts
  return (
    <form className="filters" method="get">
      <TextInput
        autoCapitalize="none"
        autoComplete="off"
        defaultValue={query.search}
        label={accounts.search}
        maxLength={100}
        name="search"
        spellCheck={false}
        type="search"
      />
      <SelectField
        choices={ACCOUNT_STATES}
        chosen={query.state}
        label={accounts.state}
        name="state"
        texts={accounts.states}
      />
      <SelectField
        choices={ACCOUNT_SORTS}
        chosen={query.sort}
        label={accounts.sort}
        name="sort"
        texts={accounts.sorts}
      />
      <Button type="submit" variant="default">
        {common.show}
      </Button>
    </form>
  )
}

function AccountRow({ account }: { account: AdminAccount }) {
  const { texts, words } = useAdmin()
  const { accounts, common } = texts
  const { id, username, storage_used, storage_limit, files_count, created_at } = account
  const storage = { used: words.size(storage_used), limit: words.size(storage_limit) }
  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          <a className="row-link" href={accountAddress(id)}>
            {username}
          </a>
          <AccountMarks account={account} />
        </span>
        <span className="small quiet">
          {[
            fill(accounts.storage, storage),
            words.count(files_count, common.files),
            fill(accounts.since, { day: words.day(created_at) }),
          ].join(' · ')}
        </span>
      </div>
    </li>
  )
}
