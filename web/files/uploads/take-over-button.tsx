import type { ListedUpload } from '../../../src/contract/uploads.ts'
import type { UploadEngine } from '../../uploads/engine.ts'
import { ChooseAgain } from '../../uploads/list/choose-again.tsx'
import { isAlike, type KnownFile, otherThan } from '../../uploads/same-file.ts'
import type { OtherFile } from '../../uploads/upload-item.ts'
import { useFiles } from '../files-context.ts'

interface TakeOverButtonProps {
  readonly engine: UploadEngine
  readonly upload: ListedUpload
  readonly size: number
  readonly url: string
  readonly refuse: (other: OtherFile) => void
}

export function TakeOverButton({ engine, upload, size, url, refuse }: TakeOverButtonProps) {
  const { data } = useFiles()
  const { name, last_modified: lastModified } = upload

  function chosen(file: File): void {
    const known: KnownFile = { name, size, lastModified }
    if (isAlike(file, known)) engine.act((list) => list.takeOver({ ...upload, size, url }, file))
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
