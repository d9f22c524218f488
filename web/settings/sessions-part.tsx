import { Button } from '@mantine/core'
import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { Problem } from '../shared/problem.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { useAttempt } from '../shared/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { browserName } from './browser-name.ts'
import { endOtherSessions, endSession, fetchSessions } from './client.ts'
import { useSettings } from './settings-context.ts'
import type { SignedInBrowser } from './shapes.ts'

/** Where somebody is signed in. */
export function SessionsPart() {
  const { texts, words, say } = useSettings()
  const { sessions } = texts
  const { answered, again } = useAnswer(fetchSessions)
  const { problem, isBusy, attempt } = useAttempt()

  function end(browser: SignedInBrowser): void {
    void attempt(
      () => endSession(browser),
      () => {
        say(sessions.ended)
        void again()
      },
    )
  }

  function endOthers(): void {
    void attempt(endOtherSessions, (ended) => {
      say(words.count(ended, sessions.endedOthers))
      void again()
    })
  }

  return (
    <Part title={sessions.title} why={sessions.why}>
      <Loaded again={again} answered={answered}>
        {(browsers) => (
          <>
            <ul className="plain-rows">
              {browsers.map((browser) => (
                <BrowserRow browser={browser} end={() => end(browser)} isBusy={isBusy} key={browser.id} />
              ))}
            </ul>
            <Problem text={problem} />
            {browsers.length > 1 ? (
              <Button className="add" disabled={isBusy} onClick={endOthers} variant="default">
                {sessions.endOthers}
              </Button>
            ) : null}
          </>
        )}
      </Loaded>
    </Part>
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
        <Button
          aria-label={fill(sessions.endOf, { name })}
          className="row-button"
          disabled={isBusy}
          onClick={end}
          variant="default"
        >
          {sessions.end}
        </Button>
      )}
    </li>
  )
}
