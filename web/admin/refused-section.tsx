import { Button } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../shared/confirm-dialog.tsx'
import { Part } from '../shared/part.tsx'
import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { allowContent, fetchRefused } from './client.ts'
import { PagedList } from './paged-list.tsx'
import { RefuseForm } from './refuse-form.tsx'
import type { Refused } from './shapes.ts'
import { useMoments } from './use-moments.ts'

/** What was taken down, and is refused when it comes again. */
export function RefusedSection() {
  const { refused } = useAdmin().texts
  return (
    <Part title={refused.title} why={refused.why}>
      <PagedList empty={refused.empty} fetchPage={fetchRefused} pageName="refused">
        {(content, changed) => <RefusedRow changed={changed} content={content} key={content.sha256} />}
      </PagedList>
      <h3>{refused.add}</h3>
      <RefuseForm />
    </Part>
  )
}

function RefusedRow({ content, changed }: { content: Refused; changed: () => Promise<void> }) {
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
      <Button
        aria-label={fill(refused.allowOf, { hash })}
        className="row-button"
        onClick={() => setIsAsking(true)}
        variant="default"
      >
        {refused.allow}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          act={() => allowContent(content)}
          close={() => setIsAsking(false)}
          isDeletion={false}
          then={() => {
            say(refused.allowed)
            void changed()
          }}
          title={fill(refused.allowOf, { hash })}
          verb={refused.allow}
          why={refused.allowWhy}
        />
      ) : null}
    </li>
  )
}
