import { type ChangeEvent, type MouseEvent, useEffect, useRef, useState } from 'react'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { hasPicker, pickFiles } from '../uploads/file-picker.ts'
import { byItself, type Picked } from '../uploads/picked.ts'
import type { StartAppTexts } from '../uploads/texts.ts'
import { type AskingLink, ZONE } from './data.ts'

interface DropZoneProps {
  readonly texts: StartAppTexts
  readonly add: (picked: readonly Picked[]) => void
  /** Names what was chosen and cannot be read. */
  readonly refuse: (names: readonly string[]) => void
  /** Loads what uploads, because it will be needed in a moment. */
  readonly open: () => void
  /** Whether files are held over the page. */
  readonly isOver: boolean
  /** Why nothing came of what was dropped or chosen last. */
  readonly told: string | null
  /** Below a list: a strip to add more. */
  readonly isSmall: boolean
  /** What the strip says. */
  readonly invitation: string
  /** Puts what is chosen by a button of its own into the transfer that is whole already. */
  readonly addToThis?: (picked: readonly Picked[]) => void
  /** Opens a place to type a text. */
  readonly write?: () => void
  /** Of an upload link; null on the start page. */
  readonly link: AskingLink | null
}

/**
 * The place to drop or choose files. Its field fills it, so that without a script browsers take a dropped file there,
 * and the form sends it.
 */
export function DropZone(props: DropZoneProps) {
  const { texts, refuse, open, isOver, told, isSmall, link, invitation, addToThis, write } = props
  const [isAlive, setIsAlive] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const photos = useRef<HTMLInputElement>(null)
  /** Where what is being chosen goes. */
  const add = useRef(props.add)
  useEffect(() => setIsAlive(true), [])

  function chosen({ currentTarget: field }: ChangeEvent<HTMLInputElement>): void {
    if (!isAlive) return
    add.current([...(field.files ?? [])].map(byItself))
    add.current = props.add
    field.value = ''
  }

  /** The field's own chooser, or one that can find the files again after a reload. */
  function choose(event: MouseEvent): void {
    if (!isAlive) return
    // Of the zone itself, not of a button in it.
    if (event.nativeEvent.isTrusted) add.current = props.add
    if (!hasPicker()) return
    event.preventDefault()
    void pickFiles().then(({ files, unreadable }) => {
      refuse(unreadable)
      add.current(files)
    })
  }

  function chooseFor(to: (picked: readonly Picked[]) => void, field = files): void {
    add.current = to
    field.current?.click()
  }

  const Title = isSmall || link !== null ? 'p' : 'h1'
  return (
    <form
      action={link === null ? '/' : `/api/v1/links/${link.slug}/upload`}
      className={isSmall ? 'zone' : 'zone ground'}
      data-alive={isAlive || undefined}
      data-over={isOver || undefined}
      data-small={isSmall || undefined}
      encType="multipart/form-data"
      id={ZONE}
      method="post"
      onPointerEnter={open}
    >
      <input
        {...(link?.accept == null ? {} : { accept: link.accept })}
        // Its script has buttons for it.
        aria-hidden={isAlive || undefined}
        aria-label={texts.file}
        className="zone-field"
        multiple={isAlive || link === null}
        name="file"
        onChange={chosen}
        onClick={choose}
        ref={files}
        required={!isAlive}
        tabIndex={isAlive ? -1 : undefined}
        type="file"
      />
      {isAlive ? (
        <input
          accept="image/*,video/*"
          aria-hidden="true"
          hidden
          multiple
          onChange={chosen}
          ref={photos}
          tabIndex={-1}
          type="file"
        />
      ) : null}
      <div className="zone-line">
        {isSmall ? null : <Drawing of="upload" size={40} />}
        <Title className="zone-title">
          {isOver ? texts.dropNow : isSmall ? invitation : <Invitation texts={texts} />}
        </Title>
        <div className="zone-buttons">
          <button
            className={isSmall ? 'button button-quiet zone-choose' : 'button zone-choose'}
            onClick={() => chooseFor(props.add)}
            type="button"
          >
            {texts.chooseFiles}
          </button>
          <button
            className="button button-quiet zone-photos with-finger"
            onClick={() => chooseFor(props.add, photos)}
            type="button"
          >
            {texts.choosePhotos}
          </button>
          {write === undefined ? null : (
            <button className="button button-quiet zone-write" onClick={write} type="button">
              {texts.transfer.write}
            </button>
          )}
          {addToThis === undefined ? null : (
            <button className="button button-quiet" onClick={() => chooseFor(addToThis)} type="button">
              {texts.transfer.addToThis}
            </button>
          )}
          <button className="button zone-send" type="submit">
            {texts.upload}
          </button>
        </div>
        {isAlive ? (
          <p className="zone-nothing" role="status">
            {told}
          </p>
        ) : null}
        {isSmall ? null : <p className="zone-paste quiet with-mouse">{texts.paste}</p>}
      </div>
    </form>
  )
}

function Invitation({ texts }: { texts: StartAppTexts }) {
  return (
    <>
      <span className="with-mouse">{texts.drop}</span>
      <span className="with-finger">{texts.choose}</span>
    </>
  )
}
