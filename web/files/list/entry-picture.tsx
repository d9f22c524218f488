import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { Entry } from '../entry.ts'

export function EntryPicture({ entry, isSmall = false }: { entry: Entry; isSmall?: boolean }) {
  if (entry.kind === 'folder') {
    return (
      <span className="picture picture-folder">
        <Drawing of="folder" size={isSmall ? 24 : 64} />
      </span>
    )
  }
  return (
    <span className="picture">
      <img
        alt=""
        decoding="async"
        draggable={false}
        height={isSmall ? 32 : 112}
        loading="lazy"
        src={entry.pictureUrl}
        width={isSmall ? 32 : 144}
      />
    </span>
  )
}
