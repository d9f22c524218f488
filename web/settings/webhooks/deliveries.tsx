import { useCallback, useEffect, useState } from 'react'
import type { Webhook, WebhookDelivery } from '../../../src/contract/events.ts'
import { Loaded } from '../../shared/app/loaded.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { RowButton } from '../../shared/app/row-button.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { fill } from '../../shared/words.ts'
import { useSettings } from '../settings-context.ts'
import { fetchDeliveries, sendAgain } from './webhooks-client.ts'

/** Milliseconds until deliveries that wait are looked at again: first, and at most. Clocks of browsers say nothing of what is due. */
const [FIRST_LOOK, LONGEST_LOOK] = [2000, 30_000]

interface DeliveriesProps {
  readonly webhook: Webhook
  /** Something was sent, or failed, that the page has shown as waiting. */
  readonly settled: () => Promise<void>
}

/** What was sent to a webhook lately, or is to be. */
export function Deliveries({ webhook, settled }: DeliveriesProps) {
  const { texts, say } = useSettings()
  const { deliveries } = texts.webhooks
  const { id } = webhook
  const read = useCallback(() => fetchDeliveries({ id }), [id])
  const { answered, again } = useAnswer(read)
  const { problem, isBusy, attempt } = useAttempt()
  const all = answered.kind === 'there' ? answered.value : []
  const isWaiting = all.some(({ state }) => state === 'waiting')
  const [looks, setLooks] = useState(0)

  useEffect(() => {
    if (!isWaiting) return
    const look = () => {
      setLooks(looks + 1)
      void again()
      void settled()
    }
    const timer = setTimeout(look, Math.min(LONGEST_LOOK, FIRST_LOOK * 1.5 ** looks))
    return () => clearTimeout(timer)
  }, [isWaiting, looks, again, settled])

  function replay(delivery: WebhookDelivery): void {
    void attempt(
      () => sendAgain(webhook, delivery),
      () => {
        say(deliveries.sentAgain)
        setLooks(0)
        return again()
      },
    )
  }

  return (
    <Loaded again={again} answered={answered} isShort>
      {(shown) => (
        <>
          {shown.length === 0 ? <p className="quiet">{deliveries.empty}</p> : null}
          <ul className="plain-rows deliveries">
            {shown.map((delivery) => (
              <DeliveryRow
                delivery={delivery}
                isBusy={isBusy}
                key={delivery.id}
                replay={webhook.disabled_at === null ? () => replay(delivery) : null}
              />
            ))}
          </ul>
          <ProblemMessage text={problem} />
        </>
      )}
    </Loaded>
  )
}

interface DeliveryRowProps {
  readonly delivery: WebhookDelivery
  readonly isBusy: boolean
  /** null while the webhook is paused. */
  readonly replay: (() => void) | null
}

function DeliveryRow({ delivery, isBusy, replay }: DeliveryRowProps) {
  const { texts, words } = useSettings()
  const { kinds, deliveries } = texts.webhooks
  const kind = `${kinds[delivery.kind]}, ${words.moment(delivery.at)}`
  return (
    <li>
      <div className="plain-words">
        <span>{kinds[delivery.kind]}</span>
        <DeliveryState delivery={delivery} />
        <span className="small quiet">{words.moment(delivery.at)}</span>
      </div>
      {replay === null || delivery.state === 'waiting' ? null : (
        <RowButton
          label={fill(deliveries.againOf, { kind })}
          act={replay}
          isDisabled={isBusy}
          text={deliveries.again}
        />
      )}
    </li>
  )
}

function DeliveryState({ delivery }: { delivery: WebhookDelivery }) {
  const { texts, words } = useSettings()
  const { deliveries } = texts.webhooks
  const { state, tries, status, failure, next_at: next } = delivery
  const why =
    failure === null
      ? null
      : failure === 'status'
        ? fill(deliveries.status, { status: String(status) })
        : deliveries.failures[failure]
  const tried = tries === 0 ? null : words.count(tries, deliveries.tries)
  const states: Readonly<Record<WebhookDelivery['state'], string>> = {
    delivered: deliveries.delivered,
    waiting:
      tries === 0 || next === null ? deliveries.soon : fill(deliveries.waiting, { time: words.moment(next) }),
    failed: deliveries.failed,
  }
  const facts = [states[state], tried, why].filter((fact) => fact !== null)
  return <span className={state === 'failed' ? 'small failure' : 'small'}>{facts.join(' · ')}</span>
}
