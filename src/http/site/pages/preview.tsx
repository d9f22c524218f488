import { createElement } from 'react'
import type { FilePageView } from '../views.ts'

/** The thing itself. Its room is fixed before it arrives, so that nothing jumps. */
export function Preview({ view }: { view: FilePageView }) {
  switch (view.preview?.kind) {
    case 'image':
      return (
        <a className="stage stage-image" href={view.preview.url}>
          <img alt={view.name} decoding="async" src={view.preview.url} />
        </a>
      )
    case 'video':
      return <div className="stage stage-video">{player('video', view.preview.url, view.name)}</div>
    case 'audio':
      return (
        <div className="stage stage-audio">
          <img alt="" height="160" src={view.thumbnailUrl} width="160" />
          {player('audio', view.preview.url, view.name)}
        </div>
      )
    default:
      return (
        <div className="stage stage-icon">
          <img alt="" height="160" src={view.thumbnailUrl} width="160" />
        </div>
      )
  }
}

/** People's own recordings come without captions, so there is no track to offer. */
function player(kind: 'video' | 'audio', src: string, name: string) {
  return createElement(kind, {
    'aria-label': name,
    controls: true,
    playsInline: kind === 'video' ? true : undefined,
    preload: 'metadata',
    src,
  })
}
