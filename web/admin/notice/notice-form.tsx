import { Button, Textarea } from '@mantine/core'
import { type FormEvent, useId, useState } from 'react'
import type { Notice } from '../../../src/contract/notice.ts'
import { MAX_NOTICE, NOTICE_LEVELS } from '../../../src/domain/notice.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { useAdmin } from '../admin-context.ts'
import { setNotice } from '../client.ts'
import { fromLocalTime, toLocalTime } from './local-time.ts'

interface NoticeFormProps {
  /** The one there is. */
  readonly notice: Notice | null
  readonly changed: () => Promise<void>
}

export function NoticeForm({ notice, changed }: NoticeFormProps) {
  const { texts, say } = useAdmin()
  const { notice: names } = texts
  const [text, setText] = useState(notice?.text ?? '')
  const [level, setLevel] = useState(notice?.level ?? 'info')
  const [from, setFrom] = useState(toLocalTime(notice?.from ?? null))
  const [until, setUntil] = useState(toLocalTime(notice?.until ?? null))
  const { problem, isBusy, attempt } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    const wanted = { text, level, from: fromLocalTime(from), until: fromLocalTime(until) }
    void attempt(
      () => setNotice(wanted),
      () => {
        say(names.done)
        return changed()
      },
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <Textarea
        label={names.text}
        maxLength={MAX_NOTICE}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        required
        rows={3}
        size="lg"
        value={text}
        withAsterisk={false}
      />
      <fieldset>
        <legend>{names.level}</legend>
        {NOTICE_LEVELS.map((each) => (
          <label className="check" key={each}>
            <input checked={level === each} name="level" onChange={() => setLevel(each)} type="radio" />
            <span>{names.levels[each]}</span>
          </label>
        ))}
      </fieldset>
      <TimeField hint={names.fromHint} label={names.from} set={setFrom} value={from} />
      <TimeField hint={names.untilHint} label={names.until} set={setUntil} value={until} />
      <ProblemMessage text={problem} />
      <Button className="add" disabled={isBusy} type="submit">
        {names.set}
      </Button>
    </form>
  )
}

interface TimeFieldProps {
  readonly label: string
  /** What it means to leave it empty. */
  readonly hint: string
  readonly value: string
  readonly set: (value: string) => void
}

function TimeField({ label, hint, value, set }: TimeFieldProps) {
  const [field, described] = [useId(), useId()]
  return (
    <div className="field">
      <label htmlFor={field}>{label}</label>
      <p className="small quiet" id={described}>
        {hint}
      </p>
      <input
        aria-describedby={described}
        id={field}
        onChange={({ currentTarget }) => set(currentTarget.value)}
        type="datetime-local"
        value={value}
      />
    </div>
  )
}
