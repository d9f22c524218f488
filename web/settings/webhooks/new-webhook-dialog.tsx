import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { EVENT_KINDS, type EventKind } from '../../../src/domain/link-event.ts'
import { parseWebhookUrl } from '../../../src/domain/webhook.ts'
import { CodeBox } from '../../shared/app/code-box.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { Hindrance, useAttempt } from '../../shared/app/use-attempt.ts'
import { refusedRequest } from '../../shared/ask.ts'
import { Dialog } from '../../shared/dialogs/dialog.tsx'
import { useSettings } from '../settings-context.ts'
import { addWebhook } from './webhooks-client.ts'

/** Adds a webhook, and shows its secret this once. */
export function NewWebhookDialog({ close }: { close: () => void }) {
  const { common, webhooks } = useSettings().texts
  const { form } = webhooks
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Dialog
      close={close}
      closeText={common.close}
      isHeld={secret !== null}
      isWide={secret !== null}
      key={secret === null ? 'form' : 'added'}
      title={secret === null ? form.title : form.added}
    >
      {secret === null ? (
        <NewWebhookForm added={setSecret} cancel={close} />
      ) : (
        <>
          <p>{form.addedWhy}</p>
          <CodeBox label={form.secret} text={secret} />
          <div className="dialog-actions">
            <Button onClick={close} variant="default">
              {form.done}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

interface NewWebhookFormProps {
  readonly cancel: () => void
  readonly added: (secret: string) => void
}

function NewWebhookForm({ cancel, added }: NewWebhookFormProps) {
  const { common, webhooks } = useSettings().texts
  const { form } = webhooks
  const [url, setUrl] = useState('')
  const [kinds, setKinds] = useState<readonly EventKind[]>(EVENT_KINDS)
  const { problem, isBusy, attempt } = useAttempt()

  function toggle(kind: EventKind): void {
    setKinds(EVENT_KINDS.filter((each) => kinds.includes(each) !== (each === kind)))
  }

  async function add(): Promise<string> {
    if (parseWebhookUrl(url.trim()) === null) throw new Hindrance(form.wrongUrl)
    // Who wants all of them wants those as well that come later.
    const wanted = kinds.length === EVENT_KINDS.length ? null : kinds
    return addWebhook(url.trim(), wanted).catch((error: unknown) => {
      throw refusedRequest(error) === 'INVALID_REQUEST' ? new Hindrance(form.refused) : error
    })
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(add, added)
  }

  return (
    <form className="dialog-form" noValidate onSubmit={submit}>
      <TextInput
        autoComplete="off"
        data-autofocus
        description={form.urlHint}
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
          <label className="check" key={kind}>
            <input checked={kinds.includes(kind)} onChange={() => toggle(kind)} type="checkbox" />
            <span>
              {webhooks.kinds[kind]}
              {form.kindWhys[kind] === undefined ? null : (
                <span className="small quiet">{form.kindWhys[kind]}</span>
              )}
            </span>
          </label>
        ))}
      </fieldset>
      <ProblemMessage text={problem} />
      <div className="dialog-actions">
        <Button onClick={cancel} type="button" variant="default">
          {common.cancel}
        </Button>
        <Button disabled={isBusy || kinds.length === 0} type="submit">
          {form.add}
        </Button>
      </div>
    </form>
  )
}
