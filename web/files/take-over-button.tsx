import { Button } from '@mantine/core'
import { type ChangeEvent, useRef } from 'react'
import type { Engine } from '../start/engine.ts'
import { isSame, type KnownFile, otherThan } from '../start/same-file.ts'
import type { OtherFile } from '../start/upload-item.ts'
import { useFiles } from './files-context.ts'
import type { UnfinishedUpload } from './uploads-client.ts'

interface TakeOverButtonProps {
  readonly engine: Engine
  readonly upload: UnfinishedUpload
  readonly size: number
  /** The link to give away. */
  readonly url: string
  /** Called with what was chosen instead of its file. */
  readonly refuse: (other: OtherFile) => void
}

/** Asks for the file of an upload that was begun elsewhere, and goes on with it. */
export function TakeOverButton({ engine, upload, size, url, refuse }: TakeOverButtonProps) {
  const { data } = useFiles()
  const field = useRef<HTMLInputElement>(null)
  const { name, last_modified: lastModified } = upload

  function chosen({ currentTarget }: ChangeEvent<HTMLInputElement>): void {
    const file = currentTarget.files?.item(0)
    currentTarget.value = ''
    if (!file) return
    const known: KnownFile = { name, size, lastModified }
    if (isSame(file, known)) engine.act((list) => list.takeOver({ ...upload, size, url }, file))
    else refuse(otherThan(known, file))
  }

  return (
    <>
      <Button
        aria-label={`${data.uploads.chooseAgain}: ${name}`}
        className="tool"
        onClick={() => field.current?.click()}
        variant="light"
      >
        {data.uploads.chooseAgain}
      </Button>
      <input
        aria-hidden="true"
        data-again={name}
        hidden
        onChange={chosen}
        ref={field}
        tabIndex={-1}
        type="file"
      />
    </>
  )
}
