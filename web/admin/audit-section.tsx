import { Button } from '@mantine/core'
import { ACTS } from '../../src/domain/audit.ts'
import { PageSection } from '../shared/app/part.tsx'
import { AccountLink } from './accounts/account-link.tsx'
import { useAdmin } from './admin-context.ts'
import type { ShownAuditRecord } from './audit-records.ts'
import { fetchAudit } from './client.ts'
import { askedChoice } from './lists/address.ts'
import { PagedList } from './lists/paged-list.tsx'
import { SelectField } from './lists/select-field.tsx'
import { useMoments } from './use-moments.ts'

const CHOICES = ['all', ...ACTS] as const

const chosen = askedChoice('act', CHOICES)
const fetchPage = (page: number) => fetchAudit(chosen === 'all' ? null : chosen, page)

/** What administrators have done, and who has signed in. */
export function AuditSection() {
  const { audit, common } = useAdmin().texts
  return (
    <PageSection title={audit.title} why={audit.why}>
      <form className="filters" method="get">
        <SelectField
          choices={CHOICES}
          chosen={chosen}
          label={audit.act}
          name="act"
          texts={{ all: audit.all, ...audit.acts }}
        />
        <Button type="submit" variant="default">
          {common.show}
        </Button>
      </form>
      <PagedList empty={audit.empty} fetchPage={fetchPage}>
        {(record) => <DeedRow record={record} key={record.id} />}
      </PagedList>
    </PageSection>
  )
}

function DeedRow({ record }: { record: ShownAuditRecord }) {
  const { audit } = useAdmin().texts
  const moment = useMoments()
  const { account, act, object, address, at } = record
  const details = Object.entries(record.details).map(([name, value]) => `${name}: ${value ?? '–'}`)
  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          {audit.acts[act]}
          {object === null ? null : <bdi className="deed-object">{object}</bdi>}
        </span>
        {details.length === 0 ? null : <code className="small deed-details">{details.join(' · ')}</code>}
        <p className="small quiet">
          {moment(at)} ·{' '}
          {account !== null ? (
            <AccountLink account={account} />
          ) : address === null ? (
            audit.commandLine
          ) : (
            audit.stranger
          )}
          {address === null ? null : ` · ${address}`}
        </p>
      </div>
    </li>
  )
}
