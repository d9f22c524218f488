import { type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { FileName } from '../shared/file-name.tsx'
import type { View } from '../uploads/list/view.ts'
import type { Picked } from '../uploads/picked.ts'
import type { Answers } from './answers.ts'
import { type AskedField, ZONE } from './data.ts'

interface AskedFieldsProps {
  readonly fields: readonly AskedField[]
  readonly answers: Answers
  readonly sending: HeldSending
  readonly view: View
}

/** What is chosen for a link that asks for something: held until somebody says to send it. */
export interface HeldSending {
  readonly held: readonly Picked[]
  readonly hold: (picked: readonly Picked[]) => void
  /** Sends it if all that is needed is there; where it is not, the browser says what is missing. */
  readonly send: () => void
  readonly discard: () => void
  /** The element around the fields. */
  readonly place: RefObject<HTMLDivElement | null>
}

/** So many names are shown of what is chosen. */
const NAMES = 5

export function useHeld(add: (picked: readonly Picked[]) => void): HeldSending {
  const place = useRef<HTMLDivElement>(null)
  const [held, setHeld] = useState<readonly Picked[]>([])
  const hold = useCallback((picked: readonly Picked[]) => setHeld((before) => [...before, ...picked]), [])
  /** The focus goes on to where more is chosen, because the button that had it is gone. */
  function release(): void {
    setHeld([])
    document.querySelector<HTMLElement>('.zone-choose')?.focus({ preventScroll: true })
  }
  function send(): void {
    if (held.length === 0 || !inputsIn(place.current).every((field) => field.reportValidity())) return
    add(held)
    release()
  }
  return { held, hold, send, discard: release, place }
}

/** What an upload link asks for, above the place to drop files. Without a script the form of that sends it. */
export function AskedFields({ fields, answers, sending, view }: AskedFieldsProps) {
  const { held, send, place } = sending
  const [isFilled, setIsFilled] = useState(false)
  const look = useCallback(() => setIsFilled(inputsIn(place.current).every(isGiven)), [place])
  useEffect(() => {
    const known = answers.all()
    for (const field of inputsIn(place.current)) {
      if (field.value === '') field.value = known[field.name] ?? ''
      else answers.set(field.name, field.value)
    }
    look()
  }, [answers, place, look])

  return (
    <div className="asked">
      <div className="asked-fields" ref={place}>
        {fields.map(({ name, label, isRequired, type }) => (
          <div className="field" key={name}>
            <label htmlFor={`asked-${name}`}>{label}</label>
            <input
              autoComplete={AUTOCOMPLETE[name] ?? 'off'}
              form={ZONE}
              id={`asked-${name}`}
              maxLength={200}
              name={name}
              onChange={({ currentTarget }) => {
                answers.set(name, currentTarget.value)
                look()
              }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.nativeEvent.isComposing || held.length === 0) return
                // Not the form, which has no file any more.
                event.preventDefault()
                send()
              }}
              required={isRequired}
              type={type}
            />
          </div>
        ))}
      </div>
      <Held isFilled={isFilled} sending={sending} view={view} />
    </div>
  )
}

interface HeldProps extends Pick<AskedFieldsProps, 'sending' | 'view'> {
  readonly isFilled: boolean
}

function Held({ isFilled, sending: { held, send, discard }, view: { texts, words } }: HeldProps): ReactNode {
  const rest = held.length - NAMES
  return (
    <>
      {/* There from the beginning, so that what it says is announced. */}
      <p className="asked-waiting" role="status">
        {held.length === 0 ? null : `${words.count(held.length, texts.held)} ${isFilled ? '' : texts.fillIn}`}
      </p>
      {held.length === 0 ? null : (
        <div className="asked-held">
          <ul className="small quiet">
            {held.slice(0, NAMES).map(({ file }, index) => (
              <li key={`${index}-${file.name}`}>
                <FileName name={file.name} />
              </li>
            ))}
            {rest > 0 ? <li>{`+ ${words.count(rest, texts.files)}`}</li> : null}
          </ul>
          <div className="actions">
            <button className="button" disabled={!isFilled} onClick={send} type="button">
              {words.count(held.length, texts.send)}
            </button>
            <button className="button button-quiet" onClick={discard} type="button">
              {texts.cancel}
            </button>
          </div>
        </div>
      )}
    </>
  )
}

const AUTOCOMPLETE: Readonly<Record<string, string>> = { sender: 'name', address: 'email' }

function inputsIn(place: HTMLElement | null): HTMLInputElement[] {
  return [...(place?.querySelectorAll('input') ?? [])]
}

function isGiven({ required, value }: HTMLInputElement): boolean {
  return !required || value.trim() !== ''
}
