import { useState } from 'react'
import type { RefusedContent } from '../../../src/contract/administration.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { RowButton } from '../../shared/app/row-button.tsx'
import { ConfirmDialog } from '../../shared/dialogs/confirm-dialog.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { allowRefusedContent, fetchRefused } from '../client.ts'
import { PagedList } from '../lists/paged-list.tsx'
import { useMoments } from '../use-moments.ts'
import { RefuseForm } from './refuse-form.tsx'

/** What was taken down, and is refused when it comes again. */
export function RefusedSection() {
  const { refused } = useAdmin().texts
  return (
    <PageSection title={refused.title} why={refused.why}>
      <PagedList empty={refused.empty} fetchPage={fetchRefused} pageName="refused">
        {(content, changed) => <RefusedRow changed={changed} content={content} key={content.sha256} />}
      </PagedList>
      <h3>{refused.add}</h3>
      <RefuseForm />
    </PageSection>
  )
}

function RefusedRow({ content, changed }: { content: RefusedContent; changed: () => Promise<void> }) {
  const { texts, words, say } = useAdmin()
  const { refused, common } = texts
  const moment = useMoments()
  const [isAsking, setIsAsking] = useState(false)
  const hash = `${content.sha256.slice(0, 12)}…`
  return (
    <li>
      <div className="plain-words">
        <code className="hash">{content.sha256}</code>
        <span className="small quiet">
          {fill(refused.since, { time: moment(content.refused_at) })}
          {' · '}
          {words.count(content.files, common.files)}
        </span>
      </div>
      <RowButton label={fill(refused.allowOf, { hash })} act={() => setIsAsking(true)} text={refused.allow} />
      {isAsking ? (
        <ConfirmDialog
          act={() => allowRefusedContent(content)}
          close={() => setIsAsking(false)}
          isDeletion={false}
          then={() => {
            say(refused.allowed)
            return changed()
          }}
          title={fill(refused.allowOf, { hash })}
          verb={refused.allow}
          why={refused.allowWhy}
        />
      ) : null}
    </li>
  )
}
