import { type SubmitEvent, useEffect, useRef } from 'react'
import { escapeTo } from '../shared/escape-to.ts'
import type { Picked } from '../uploads/picked.ts'
import type { StartAppTexts } from '../uploads/texts.ts'
import { textFile } from './pasted.ts'

interface TypedTextProps {
  readonly texts: StartAppTexts
  readonly add: (picked: readonly Picked[]) => void
  /** Told whether something is written that is not uploaded. */
  readonly written: (isWritten: boolean) => void
  readonly close: () => void
}

/** A place to type a text that becomes a file, where else files are dropped. */
export function TypedText({ texts, add, written, close }: TypedTextProps) {
  const { typed } = texts
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    field.current?.focus()
    return () => written(false)
  }, [written])

  function upload(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const [text, name] = [String(fields.get('text')), String(fields.get('name')).trim()]
    if (text.trim() === '') {
      field.current?.focus()
      return
    }
    add([textFile(text, name, texts.pasted, new Date())])
    close()
  }

  return (
    <form
      className="typed"
      onKeyDown={(event) => {
        const { key, ctrlKey, metaKey, currentTarget } = event
        if (key === 'Enter' && (ctrlKey || metaKey)) currentTarget.requestSubmit()
        // What is written is not given up by a slip.
        else if (field.current?.value === '') escapeTo(close)(event)
      }}
      onSubmit={upload}
    >
      <textarea
        aria-label={typed.text}
        dir="auto"
        name="text"
        onChange={({ currentTarget }) => written(currentTarget.value !== '')}
        ref={field}
        required
        rows={10}
        spellCheck={false}
      />
      <label className="typed-name">
        <span>{typed.name}</span>
        <input autoCapitalize="off" autoComplete="off" maxLength={200} name="name" type="text" />
        <span className="small quiet">{typed.nameWhy}</span>
      </label>
      <div className="typed-actions">
        <button className="button" type="submit">
          {texts.upload}
        </button>
        <button className="button button-quiet" onClick={close} type="button">
          {texts.cancel}
        </button>
      </div>
    </form>
  )
}
