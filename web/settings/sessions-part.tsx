import { Button } from '@mantine/core'
import type { SignedInBrowser } from '../../src/contract/session.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { RowButton } from '../shared/app/row-button.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { browserName } from './browser-name.ts'
import { endOneSession, endOtherSessions, fetchSessions } from './client.ts'
import { useSettings } from './settings-context.ts'

/** Where somebody is signed in. */
export function SessionsPart() {
  const { texts, words, say } = useSettings()
  const { sessions } = texts
  const { answered, again } = useAnswer(fetchSessions)
  const { problem, isBusy, attempt } = useAttempt()

  function end(browser: SignedInBrowser): void {
    void attempt(
      () => endOneSession(browser),
      () => {
        say(sessions.ended)
        return again()
      },
    )
  }

  function endOthers(): void {
    void attempt(endOtherSessions, (ended) => {
      say(words.count(ended, sessions.endedOthers))
      return again()
    })
  }

  return (
    <PageSection title={sessions.title} why={sessions.why}>
      <Loaded again={again} answered={answered}>
        {(browsers) => (
          <>
            <ul className="plain-rows">
              {browsers.map((browser) => (
                <BrowserRow browser={browser} end={() => end(browser)} isBusy={isBusy} key={browser.id} />
              ))}
            </ul>
            <ProblemMessage text={problem} />
            {browsers.length > 1 ? (
              <Button className="add" disabled={isBusy} onClick={endOthers} variant="default">
                {sessions.endOthers}
              </Button>
            ) : null}
          </>
        )}
      </Loaded>
    </PageSection>
  )
}

interface BrowserRowProps {
  readonly browser: SignedInBrowser
  readonly isBusy: boolean
  readonly end: () => void
}

function BrowserRow({ browser, isBusy, end }: BrowserRowProps) {
  const { texts, words } = useSettings()
  const { sessions } = texts
  const { browser: program, system } = browserName(browser.user_agent ?? '')
  const known = program ?? sessions.unknown
  const name = system === null ? known : fill(sessions.on, { browser: known, system })
  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          {name} {browser.is_this ? <span className="badge small">{sessions.here}</span> : null}
        </span>
        <span className="small quiet">
          {fill(sessions.since, { day: words.day(browser.created_at) })}
          {' · '}
          {fill(sessions.lastUsed, { day: words.day(browser.last_used_at) })}
        </span>
      </div>
      {browser.is_this ? null : (
        <RowButton label={fill(sessions.endOf, { name })} act={end} isDisabled={isBusy} text={sessions.end} />
      )}
    </li>
  )
}
