import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { EVENT_KINDS, type EventKind } from '../../../src/domain/event-kinds.ts'
import { parseWebhookUrl } from '../../../src/domain/webhook.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { AttemptFailure, useAttempt } from '../../shared/app/use-attempt.ts'
import { CheckField } from '../../shared/check-field.tsx'
import { DialogActions } from '../../shared/dialogs/dialog-actions.tsx'
import { refusedRequest } from '../../shared/fetch-json.ts'
import { useSettings } from '../settings-context.ts'

interface WebhookFormProps<T> {
  readonly url: string
  /** null: all. */
  readonly kinds: readonly EventKind[] | null
  readonly hint: string
  readonly verb: string
  readonly act: (url: string, kinds: readonly EventKind[] | null) => Promise<T>
  readonly then: (done: T) => void | Promise<void>
  readonly cancel: () => void
}

/** Address and events of a webhook that is there, or is to be. */
export function WebhookForm<T>({ hint, verb, act, then, cancel, ...before }: WebhookFormProps<T>) {
  const { common, webhooks } = useSettings().texts
  const { form } = webhooks
  const [url, setUrl] = useState(before.url)
  const [kinds, setKinds] = useState<readonly EventKind[]>(before.kinds ?? EVENT_KINDS)
  const { problem, isBusy, attempt } = useAttempt()

  function toggle(kind: EventKind): void {
    setKinds(EVENT_KINDS.filter((each) => kinds.includes(each) !== (each === kind)))
  }

  async function send(): Promise<T> {
    if (parseWebhookUrl(url.trim()) === null) throw new AttemptFailure(form.wrongUrl)
    // Who wants all of them wants those as well that come later.
    const wanted = kinds.length === EVENT_KINDS.length ? null : kinds
    return act(url.trim(), wanted).catch((error: unknown) => {
      throw refusedRequest(error) === 'INVALID_REQUEST' ? new AttemptFailure(form.refused) : error
    })
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(send, then)
  }

  return (
    <form className="dialog-form" noValidate onSubmit={submit}>
      <TextInput
        autoComplete="off"
        data-autofocus
        description={hint}
        inputMode="url"
        label={form.url}
        maxLength={2000}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        placeholder="https://"
        required
        value={url}
        withAsterisk={false}
      />
      <fieldset>
        <legend>{form.kinds}</legend>
        {EVENT_KINDS.map((kind) => (
          <CheckField
            isChecked={kinds.includes(kind)}
            key={kind}
            set={() => toggle(kind)}
            text={webhooks.kinds[kind]}
            why={form.kindWhys[kind]}
          />
        ))}
      </fieldset>
      <ProblemMessage text={problem} />
      <DialogActions
        cancel={cancel}
        cancelText={common.cancel}
        isDisabled={isBusy || kinds.length === 0}
        verb={verb}
      />
    </form>
  )
}
