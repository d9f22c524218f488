import type { FileEntry } from '../entry.ts'

export function EntryPreview({ file, hasPicture }: { file: FileEntry; hasPicture: boolean }) {
  const bytes = `${new URL(file.url).pathname}?view=1`
  const picture = hasPicture ? `/t/${file.uuid}?size=960` : file.pictureUrl
  const [kind] = file.type.split('/')
  if (kind === 'video') {
    return (
      <video
        className="preview"
        controls
        poster={hasPicture ? picture : undefined}
        preload="none"
        src={bytes}
      />
    )
  }
  if (kind === 'audio') {
    return <audio className="preview" controls preload="none" src={bytes} />
  }
  return <img alt="" className="preview" decoding="async" src={picture} />
}
