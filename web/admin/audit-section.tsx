import { Button } from '@mantine/core'
import { ACTS } from '../../src/domain/audit.ts'
import { Part } from '../shared/part.tsx'
import { AccountLink } from './account-link.tsx'
import { askedChoice } from './address.ts'
import { useAdmin } from './admin-context.ts'
import { fetchAudit } from './client.ts'
import { PagedList } from './paged-list.tsx'
import { SelectField } from './select-field.tsx'
import type { Deed } from './shapes.ts'
import { useMoments } from './use-moments.ts'

const CHOICES = ['all', ...ACTS] as const

const chosen = askedChoice('act', CHOICES)
const fetchPage = (page: number) => fetchAudit(chosen === 'all' ? null : chosen, page)

/** What administrators have done. */
export function AuditSection() {
  const { audit, common } = useAdmin().texts
  return (
    <Part title={audit.title} why={audit.why}>
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
        {(deed) => <DeedRow deed={deed} key={deed.id} />}
      </PagedList>
    </Part>
  )
}

function DeedRow({ deed }: { deed: Deed }) {
  const { audit } = useAdmin().texts
  const moment = useMoments()
  const { account, act, object, address, at } = deed
  const details = Object.entries(deed.details).map(([name, value]) => `${name}: ${value ?? '–'}`)
  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          {audit.acts[act]}
          {object === null ? null : <bdi className="deed-object">{object}</bdi>}
        </span>
        {details.length === 0 ? null : <code className="small deed-details">{details.join(' · ')}</code>}
        <p className="small quiet">
          {moment(at)} · {account === null ? audit.commandLine : <AccountLink account={account} />}
          {address === null ? null : ` · ${address}`}
        </p>
      </div>
    </li>
  )
}
