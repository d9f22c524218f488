import { Button } from '@mantine/core'
import { type MouseEvent, type SubmitEvent, useEffect, useRef, useState } from 'react'
import type { Picked } from '../uploads/picked.ts'
import type { StartAppTexts } from '../uploads/texts.ts'
import { textFile } from './pasted.ts'

interface TypedTextProps {
  readonly texts: StartAppTexts
  readonly add: (picked: readonly Picked[]) => void
  /** Loads what uploads, because it will be needed in a moment. */
  readonly open: () => void
  /** Told whether something is written that is not uploaded. */
  readonly written: (isWritten: boolean) => void
}

/** A place to type a text that becomes a file: folded away, for whoever has no file. */
export function TypedText({ texts, add, open, written }: TypedTextProps) {
  const { typed } = texts
  const details = useRef<HTMLDetailsElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  // Before that the browser itself would send the text, in an address.
  const [isAlive, setIsAlive] = useState(false)
  useEffect(() => {
    setIsAlive(true)
    written(field.current?.value !== '')
  }, [written])

  /** At once, because the browser tells that it has unfolded it only after a while, in which somebody may type already. */
  function unfold(event: MouseEvent<HTMLElement>): void {
    if (details.current === null || details.current.open) return
    event.preventDefault()
    details.current.open = true
    field.current?.focus()
  }

  function upload(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault()
    const form = event.currentTarget
    const fields = new FormData(form)
    const [text, name] = [String(fields.get('text')), String(fields.get('name')).trim()]
    if (text.trim() === '') {
      field.current?.focus()
      return
    }
    add([textFile(text, name, texts.pasted, new Date())])
    form.reset()
    written(false)
    if (details.current !== null) details.current.open = false
  }

  return (
    <details
      className="typed"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) open()
      }}
      ref={details}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: browsers give a summary focus and keys */}
      <summary className="small quiet" onClick={unfold}>
        {typed.title}
      </summary>
      <form
        onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
          if (key === 'Enter' && (ctrlKey || metaKey)) currentTarget.requestSubmit()
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
        <Button disabled={!isAlive} type="submit">
          {texts.upload}
        </Button>
      </form>
    </details>
  )
}
