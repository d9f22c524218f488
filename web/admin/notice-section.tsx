import { Button } from '@mantine/core'
import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { Problem } from '../shared/problem.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { useAttempt } from '../shared/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { clearNotice, fetchNotice } from './client.ts'
import { NoticeForm } from './notice-form.tsx'
import type { Notice } from './shapes.ts'
import { useMoments } from './use-moments.ts'

/** What everybody is told on every page. */
export function NoticeSection() {
  const { notice } = useAdmin().texts
  const { answered, again } = useAnswer(fetchNotice)
  return (
    <Part title={notice.title} why={notice.why}>
      <Loaded again={again} answered={answered}>
        {(present) => (
          <>
            <PresentNotice changed={again} notice={present} />
            <NoticeForm changed={again} notice={present} />
          </>
        )}
      </Loaded>
    </Part>
  )
}

function PresentNotice({ notice, changed }: { notice: Notice | null; changed: () => Promise<void> }) {
  const { texts, say } = useAdmin()
  const { notice: names } = texts
  const stands = useStanding()
  const { problem, isBusy, attempt } = useAttempt()
  if (notice === null) return <p className="quiet">{names.none}</p>

  function clear(): void {
    void attempt(clearNotice, () => {
      say(names.cleared)
      void changed()
    })
  }

  return (
    <>
      <p>{stands(notice)}</p>
      <Problem text={problem} />
      <Button className="add" disabled={isBusy} onClick={clear} variant="default">
        {names.clear}
      </Button>
    </>
  )
}

/** Whether people see it at this moment. */
function useStanding(): (notice: Notice) => string {
  const { notice: names } = useAdmin().texts
  const moment = useMoments()
  return ({ from, until }) => {
    const now = Date.now()
    if (until !== null && Date.parse(until) <= now) return names.over
    if (from !== null && Date.parse(from) > now) return fill(names.later, { time: moment(from) })
    return names.shown
  }
}
