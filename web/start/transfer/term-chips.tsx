import { type ReactNode, useId, useRef, useState } from 'react'
import { DAY } from '../../../src/domain/clock.ts'
import { dayFormat, isoDay, zoneHere } from '../../../src/domain/days.ts'
import { LONGEST_SHARED_PASSWORD } from '../../../src/domain/password-grade.ts'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { DrawingName } from '../../shared/drawings/drawings.ts'
import { momentOf } from '../../shared/end.ts'
import { fill } from '../../shared/words.ts'
import type { View } from '../../uploads/list/view.ts'
import { CopyAction } from './copy-action.tsx'
import { Popover } from './popover.tsx'
import { makePassword, type TransferTerms } from './terms.ts'

interface TermChipsProps {
  readonly terms: TransferTerms
  readonly change: (terms: Partial<TransferTerms>) => void
  /** Whether the sender is asked for a name, which an account has. */
  readonly isGuest: boolean
  readonly view: View
}

/** Days. */
const ENDS = [1, 7, 30] as const
const LONGEST_MESSAGE = 2000
const LONGEST_NAME = 100
const LONGEST_SENDER = 64

/** What a transfer asks and says: each is set in place, and moves nothing. */
export function TermChips(props: TermChipsProps) {
  const { terms, change, view } = props
  const { transfer } = view.texts
  return (
    <ul aria-label={transfer.terms} className="chips">
      <li>
        <PasswordChip {...props} />
      </li>
      <li>
        <EndChip {...props} />
      </li>
      <li>
        <button
          aria-pressed={terms.once}
          className="chip"
          onClick={() => change({ once: !terms.once })}
          title={transfer.onceWhy}
          type="button"
        >
          <Drawing of={terms.once ? 'check' : 'download'} size={16} />
          {transfer.once}
        </button>
      </li>
      <li>
        <MessageChip {...props} />
      </li>
    </ul>
  )
}

interface ChipProps {
  readonly drawing: DrawingName
  readonly label: string
  readonly isSet: boolean
  /** Of what it opens. */
  readonly popover: string
  readonly pressed?: () => void
}

function Chip({ drawing, label, isSet, popover, pressed }: ChipProps) {
  return (
    <button
      aria-haspopup="dialog"
      className="chip"
      data-set={isSet || undefined}
      onClick={pressed}
      popoverTarget={popover}
      type="button"
    >
      <Drawing of={isSet ? 'check' : drawing} size={16} />
      {label}
    </button>
  )
}

function PasswordChip({ terms: { password }, change, view: { texts } }: TermChipsProps) {
  const { transfer } = texts
  const box = useId()
  const field = useId()
  const set = (text: string) => change({ password: text === '' ? OPEN : { isSet: true, text } })
  return (
    <>
      <Chip
        drawing="lock"
        isSet={password.isSet}
        label={transfer.password}
        popover={box}
        // One touch sets one; the box then shows it.
        pressed={() => {
          if (!password.isSet) set(makePassword())
        }}
      />
      <Popover id={box} label={transfer.password}>
        <label htmlFor={field}>{transfer.password}</label>
        <div className="popover-line">
          <input
            autoCapitalize="off"
            autoComplete="off"
            className="popover-field"
            id={field}
            // Another password is another field: it is not written over while somebody types.
            key={password.text}
            defaultValue={password.text ?? ''}
            maxLength={LONGEST_SHARED_PASSWORD}
            onBlur={({ currentTarget: { value } }) => {
              if (value !== '' && value !== password.text) set(value)
            }}
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'Enter') currentTarget.blur()
            }}
            placeholder={password.isSet ? transfer.passwordHidden : undefined}
            spellCheck={false}
            type="text"
          />
          {password.text === null ? null : (
            <CopyAction copied={texts.copied} label={transfer.copyPassword} text={password.text} />
          )}
        </div>
        <p className="small quiet">{transfer.passwordWhy}</p>
        <div className="popover-actions">
          <button className="text-button" onClick={() => set(makePassword())} type="button">
            {transfer.newPassword}
          </button>
          <button
            className="text-button"
            disabled={!password.isSet}
            onClick={() => set('')}
            popoverTarget={box}
            popoverTargetAction="hide"
            type="button"
          >
            {transfer.noPassword}
          </button>
        </div>
      </Popover>
    </>
  )
}

const OPEN = { isSet: false, text: null }

function EndChip({ terms: { endsAt }, change, view }: TermChipsProps) {
  const { texts, words } = view
  const { transfer } = texts
  const [box, field] = [useId(), useId()]
  const choice = (label: string, end: string | null, isChosen: boolean): ReactNode => (
    <button
      aria-pressed={isChosen}
      className="popover-choice"
      key={label}
      onClick={() => change({ endsAt: end })}
      popoverTarget={box}
      popoverTargetAction="hide"
      type="button"
    >
      {label}
    </button>
  )
  return (
    <>
      <Chip
        drawing="clock"
        isSet={endsAt !== null}
        label={endsAt === null ? transfer.addEnd : fill(transfer.end, { day: shortDay(endsAt, view.locale) })}
        popover={box}
      />
      <Popover id={box} label={transfer.addEnd}>
        {ENDS.map((days) => choice(words.count(days, transfer.days), daysFromNow(days), false))}
        <label className="popover-day" htmlFor={field}>
          {transfer.onDay}
          <input
            className="popover-field"
            id={field}
            min={today()}
            onChange={({ currentTarget: { value } }) => {
              if (value >= today()) change({ endsAt: momentOf({ kind: 'on', day: value }, 0) })
            }}
            type="date"
          />
        </label>
        {choice(transfer.endless, null, endsAt === null)}
      </Popover>
    </>
  )
}

/** Of a chip, whose width stays: `6 Dec`, with its year where that is not this one. */
function shortDay(iso: string, locale: string): string {
  const zone = zoneHere()
  const [day, now] = [Date.parse(iso), Date.now()]
  const isThisYear = isoDay(day, zone).slice(0, 4) === isoDay(now, zone).slice(0, 4)
  return dayFormat(locale, zone, isThisYear ? 'short' : 'medium')(day)
}

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString()
}

function today(): string {
  return isoDay(Date.now(), zoneHere())
}

function MessageChip({ terms, change, isGuest, view: { texts } }: TermChipsProps) {
  const { transfer } = texts
  const box = useId()
  const form = useRef<HTMLFormElement>(null)
  const { name, message, sender } = terms
  const [shown, setShown] = useState(terms)
  const isSet = name !== '' || message !== '' || sender !== ''

  function save(): void {
    if (form.current === null) return
    const fields = new FormData(form.current)
    const text = (field: string) => String(fields.get(field) ?? '').trim()
    const now = {
      name: text('name'),
      message: text('message'),
      ...(isGuest ? { sender: text('sender') } : {}),
    }
    const changed = Object.entries(now).filter(([field, value]) => value !== { name, message, sender }[field])
    if (changed.length > 0) change(Object.fromEntries(changed))
  }

  return (
    <>
      <Chip drawing="message" isSet={isSet} label={transfer.message} popover={box} />
      <Popover closed={save} id={box} label={transfer.message} opened={() => setShown(terms)}>
        <form
          className="popover-form"
          onSubmit={(event) => {
            event.preventDefault()
            form.current?.closest<HTMLElement>('[popover]')?.hidePopover()
          }}
          ref={form}
        >
          <label>
            {transfer.titleOf}
            <input
              className="popover-field"
              defaultValue={shown.name}
              dir="auto"
              key={`name ${shown.name}`}
              maxLength={LONGEST_NAME}
              name="name"
            />
          </label>
          <label>
            {transfer.message}
            <textarea
              className="popover-field"
              defaultValue={shown.message}
              dir="auto"
              key={`message ${shown.message}`}
              maxLength={LONGEST_MESSAGE}
              name="message"
              rows={3}
            />
          </label>
          {isGuest ? (
            <label>
              {transfer.sender}
              <input
                autoComplete="name"
                className="popover-field"
                defaultValue={shown.sender}
                dir="auto"
                key={`sender ${shown.sender}`}
                maxLength={LONGEST_SENDER}
                name="sender"
              />
            </label>
          ) : null}
          <button className="button button-quiet" type="submit">
            {transfer.done}
          </button>
        </form>
      </Popover>
    </>
  )
}
