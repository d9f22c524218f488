import { Button } from '@mantine/core'
import { useEffect } from 'react'
import type { Notice } from '../../../src/contract/notice.ts'
import { Loaded } from '../../shared/app/loaded.tsx'
import { showNotice } from '../../shared/app/notice.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { clearNotice, fetchNotice } from '../client.ts'
import { useMoments } from '../use-moments.ts'
import { NoticeForm } from './notice-form.tsx'

/** What everybody is told on every page. */
export function NoticeSection() {
  const { notice } = useAdmin().texts
  const { answered, again } = useAnswer(fetchNotice)
  return (
    <PageSection title={notice.title} why={notice.why}>
      <Loaded again={again} answered={answered}>
        {(present) => (
          <>
            <PresentNotice changed={again} notice={present} />
            <NoticeForm changed={again} notice={present} />
          </>
        )}
      </Loaded>
    </PageSection>
  )
}

function PresentNotice({ notice, changed }: { notice: Notice | null; changed: () => Promise<void> }) {
  const { texts, say } = useAdmin()
  const { notice: names } = texts
  const moment = useMoments()
  const { problem, isBusy, attempt } = useAttempt()
  // The band above asks the server once a minute.
  useEffect(() => showNotice(notice !== null && standingOf(notice) === 'shown' ? notice : null), [notice])
  if (notice === null) return <p className="quiet">{names.none}</p>

  function clear(): void {
    void attempt(clearNotice, () => {
      say(names.cleared)
      return changed()
    })
  }

  return (
    <>
      <p>{fill(names[standingOf(notice)], { time: notice.from === null ? '' : moment(notice.from) })}</p>
      <ProblemMessage text={problem} />
      <Button className="add" disabled={isBusy} onClick={clear} variant="default">
        {names.clear}
      </Button>
    </>
  )
}

/** Whether people see it at this moment. */
function standingOf({ from, until }: Notice): 'over' | 'later' | 'shown' {
  const now = Date.now()
  if (until !== null && Date.parse(until) <= now) return 'over'
  return from !== null && Date.parse(from) > now ? 'later' : 'shown'
}
