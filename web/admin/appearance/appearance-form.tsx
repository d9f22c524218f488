import { Button, Textarea, TextInput } from '@mantine/core'
import { type CSSProperties, type FormEvent, useId, useState } from 'react'
import type { Branding } from '../../../src/contract/branding.ts'
import { accentOrNull, nearestAccent } from '../../../src/domain/accent.ts'
import { LEGAL_PAGES, MAX_LEGAL_TEXT, MAX_SITE_NAME, MAX_START_TEXT } from '../../../src/domain/branding.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { changeBranding } from '../client.ts'

interface AppearanceFormProps {
  readonly branding: Branding
  readonly changed: () => Promise<void>
}

export function AppearanceForm({ branding, changed }: AppearanceFormProps) {
  const { texts, say } = useAdmin()
  const { appearance: names } = texts
  const [name, setName] = useState(branding.name ?? '')
  const [accent, setAccent] = useState(branding.accent ?? '')
  const [startText, setStartText] = useState(branding.start_text ?? '')
  const [legal, setLegal] = useState(branding.legal)
  const { problem, isBusy, attempt } = useAttempt()
  const isAccentRight = accent.trim() === '' || accentOrNull(accent) !== null

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!isAccentRight) return
    const wanted = { name, accent: accent.trim() === '' ? null : accent, start_text: startText, legal }
    void attempt(
      () => changeBranding(wanted),
      () => {
        say(names.done)
        return changed()
      },
    )
  }

  return (
    <form className="dialog-form" onSubmit={submit}>
      <TextInput
        description={names.nameHint}
        label={names.name}
        maxLength={MAX_SITE_NAME}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        value={name}
      />
      <AccentField set={setAccent} value={accent} />
      <Textarea
        description={names.markdown}
        label={names.startText}
        maxLength={MAX_START_TEXT}
        onChange={({ currentTarget }) => setStartText(currentTarget.value)}
        rows={3}
        size="lg"
        value={startText}
      />
      <h3>{names.legal}</h3>
      <p className="quiet">{names.legalWhy}</p>
      {LEGAL_PAGES.map((page) => (
        <Textarea
          description={names.markdown}
          key={page}
          label={names[page]}
          maxLength={MAX_LEGAL_TEXT}
          onChange={({ currentTarget }) => setLegal({ ...legal, [page]: currentTarget.value })}
          rows={5}
          size="lg"
          value={legal[page] ?? ''}
        />
      ))}
      <ProblemMessage text={problem} />
      <Button className="add" disabled={isBusy} type="submit">
        {names.save}
      </Button>
    </form>
  )
}

/** As text, for who has the colour from elsewhere, and to pick. Says before it is saved whether it can be read. */
function AccentField({ value, set }: { value: string; set: (value: string) => void }) {
  const { appearance: names } = useAdmin().texts
  const [field, hint, problem] = [useId(), useId(), useId()]
  const nearest = nearestAccent(value)
  const accent = accentOrNull(value)
  const isWrong = value.trim() !== '' && accent === null
  const style = accent === null ? undefined : ({ '--sample': accent } as CSSProperties)
  return (
    <div className="field">
      <label htmlFor={field}>{names.accent}</label>
      <p className="quiet small" id={hint}>
        {names.accentHint}
      </p>
      <div className="accent-row">
        <input
          aria-describedby={`${hint} ${problem}`}
          aria-invalid={isWrong}
          autoComplete="off"
          id={field}
          maxLength={20}
          onChange={({ currentTarget }) => set(currentTarget.value)}
          spellCheck={false}
          value={value}
        />
        <input
          aria-label={names.accentPick}
          onChange={({ currentTarget }) => set(currentTarget.value)}
          type="color"
          value={nearest ?? '#0f766e'}
        />
        {style === undefined ? null : (
          <span aria-hidden="true" className="accent-sample" style={style}>
            {names.sample}
          </span>
        )}
      </div>
      <p className="failure" id={problem} role="status">
        {!isWrong
          ? null
          : nearest === null
            ? names.accentWrong
            : fill(names.accentLight, { colour: nearest })}
      </p>
    </div>
  )
}
