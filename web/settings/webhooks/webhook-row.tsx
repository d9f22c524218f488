import { useState } from 'react'
import type { Webhook } from '../../../src/contract/events.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { RowButton } from '../../shared/app/row-button.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { fill } from '../../shared/words.ts'
import { useSettings } from '../settings-context.ts'
import { Deliveries } from './deliveries.tsx'
import { sendTest, setEnabled } from './webhooks-client.ts'

interface WebhookRowProps {
  readonly webhook: Webhook
  /** Reads all webhooks again. */
  readonly again: () => Promise<void>
  readonly change: () => void
  readonly remove: () => void
}

export function WebhookRow({ webhook, again, change, remove }: WebhookRowProps) {
  const { texts, say } = useSettings()
  const { webhooks } = texts
  const { url, disabled_at: paused } = webhook
  const { problem, isBusy, attempt } = useAttempt()
  const [isOpen, setIsOpen] = useState(false)
  /** Of tests, each of which has the deliveries read again. */
  const [tests, setTests] = useState(0)

  function test(): void {
    void attempt(
      () => sendTest(webhook),
      () => {
        say(webhooks.testSent)
        setTests(tests + 1)
        setIsOpen(true)
      },
    )
  }

  function pause(isPaused: boolean): void {
    void attempt(
      () => setEnabled(webhook, !isPaused),
      () => {
        say(isPaused ? webhooks.isPaused : webhooks.isResumed)
        return again()
      },
    )
  }

  return (
    <li>
      <div className="webhook-head">
        <div className="plain-words">
          <span className="row-name">
            <bdi>{url}</bdi>
          </span>
          <WebhookFacts webhook={webhook} />
        </div>
        <button
          aria-label={fill(webhooks.removeOf, { url })}
          className="icon-button"
          data-deletion
          onClick={remove}
          type="button"
        >
          <Drawing of="trash" />
        </button>
      </div>
      <div className="buttons">
        {paused === null ? (
          <RowButton
            label={fill(webhooks.testOf, { url })}
            act={test}
            isDisabled={isBusy}
            text={webhooks.test}
          />
        ) : null}
        <RowButton
          label={fill(paused === null ? webhooks.pauseOf : webhooks.resumeOf, { url })}
          act={() => pause(paused === null)}
          isDisabled={isBusy}
          text={paused === null ? webhooks.pause : webhooks.resume}
        />
        <RowButton label={fill(webhooks.changeOf, { url })} act={change} text={webhooks.change} />
      </div>
      <ProblemMessage text={problem} />
      <details
        className="example"
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
        open={isOpen}
      >
        <summary>{webhooks.deliveries.title}</summary>
        {isOpen ? <Deliveries key={tests} settled={again} webhook={webhook} /> : null}
      </details>
    </li>
  )
}

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { texts, words } = useSettings()
  const { webhooks } = texts
  const { kinds, failing_since: failing, disabled_at: paused } = webhook
  const isFailing = failing !== null
  return (
    <>
      <span className="small">
        {kinds === null ? webhooks.allEvents : kinds.map((kind) => webhooks.kinds[kind]).join(', ')}
      </span>
      {paused === null ? null : (
        <span className="small quiet">{fill(webhooks.paused, { time: words.moment(paused) })}</span>
      )}
      {isFailing ? (
        <span className="small failure">{fill(webhooks.failing, { time: words.moment(failing) })}</span>
      ) : null}
      {paused === null && !isFailing ? <span className="small quiet">{webhooks.inUse}</span> : null}
    </>
  )
}
