import { ChooseAgain } from '../start/choose-again.tsx'
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
  const { name, last_modified: lastModified } = upload

  function chosen(file: File): void {
    const known: KnownFile = { name, size, lastModified }
    if (isSame(file, known)) engine.act((list) => list.takeOver({ ...upload, size, url }, file))
    else refuse(otherThan(known, file))
  }

  return (
    <ChooseAgain
      chosen={chosen}
      className="tool"
      label={data.uploads.chooseAgain}
      name={name}
      variant="light"
    />
  )
}
