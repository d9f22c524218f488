import { Button } from '@mantine/core'
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
  /** Of an upload link; null on the start page. */
  readonly link: AskingLink | null
}

/**
 * The place to drop or choose files. Its field fills it, so that without a script browsers take a dropped file there,
 * and the form sends it.
 */
export function DropZone({ texts, add, refuse, open, isOver, told, isSmall, link }: DropZoneProps) {
  const [isAlive, setIsAlive] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const photos = useRef<HTMLInputElement>(null)
  useEffect(() => setIsAlive(true), [])

  function chosen({ currentTarget: field }: ChangeEvent<HTMLInputElement>): void {
    if (!isAlive) return
    add([...(field.files ?? [])].map(byItself))
    field.value = ''
  }

  /** The field's own chooser, or one that can find the files again after a reload. */
  function choose(event: MouseEvent): void {
    if (!isAlive || !hasPicker()) return
    event.preventDefault()
    void pickFiles().then(({ files, unreadable }) => {
      refuse(unreadable)
      add(files)
    })
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
        multiple={isAlive}
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
          {isOver ? texts.dropNow : <Invitation isSmall={isSmall} texts={texts} />}
        </Title>
        <div className="zone-buttons">
          <Button
            className="zone-choose"
            onClick={() => files.current?.click()}
            variant={isSmall ? 'default' : 'filled'}
          >
            {texts.chooseFiles}
          </Button>
          <Button
            className="zone-photos with-finger"
            onClick={() => photos.current?.click()}
            variant="default"
          >
            {texts.choosePhotos}
          </Button>
          <Button className="zone-send" type="submit">
            {texts.upload}
          </Button>
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

function Invitation({ texts, isSmall }: { texts: StartAppTexts; isSmall: boolean }) {
  if (isSmall) return <span>{texts.addMore}</span>
  return (
    <>
      <span className="with-mouse">{texts.drop}</span>
      <span className="with-finger">{texts.choose}</span>
    </>
  )
}
