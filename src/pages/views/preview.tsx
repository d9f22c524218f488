import { createElement, type ReactNode } from 'react'
import type { PreviewKind } from '../../../web/file/data.ts'
import type { FilePageView } from '../views.ts'
import type { PageContext } from './context.ts'

interface Props {
  readonly view: FilePageView
  readonly context: PageContext
}

/** Works without scripts, which take over. Its size is fixed, so that the layout does not shift. */
export function PreviewView({ view, context }: Props) {
  const { preview, name } = view
  switch (preview?.kind) {
    case undefined:
      return (
        <Stage kind="icon">
          <Icon view={view} />
        </Stage>
      )
    case 'image': {
      const { screen } = preview
      const picture = (
        <>
          {screen === null ? null : <img alt="" className="first-look" src={screen.thumbnailUrl} />}
          <img alt={name} decoding="async" id="picture" src={screen?.url ?? preview.url} />
        </>
      )
      return (
        <Stage kind={screen === null ? 'image' : 'image stage-screen'}>
          {preview.opens ? (
            <a className="whole" href={preview.url}>
              {picture}
            </a>
          ) : (
            <span className="whole">{picture}</span>
          )}
        </Stage>
      )
    }
    case 'video':
      return (
        <Stage kind="video">
          {player('video', preview.url, view)}
          <SpeedPlace />
        </Stage>
      )
    case 'audio':
      return (
        <Stage kind="audio">
          <Icon view={view} />
          {player('audio', preview.url, view)}
          <SpeedPlace />
        </Stage>
      )
    case 'pdf':
    case 'text':
    case 'code':
    case 'markdown':
    case 'table':
    case 'archive':
      return (
        <Read kind={preview.kind} size={view.size}>
          <div aria-hidden="true" className="skeleton" />
          <noscript>
            <Icon view={view} />
            <OpenLink context={context} url={preview.rawUrl ?? (preview.opens ? preview.url : null)} />
          </noscript>
        </Read>
      )
  }
}

function Stage({ kind, children }: { kind: string; children: ReactNode }) {
  return (
    <div className={`stage stage-${kind}`} id="stage">
      {children}
    </div>
  )
}

/** Bytes, each with the class for a smaller stage: short content gets less space before it is loaded. */
type Rooms = readonly (readonly [number, string])[]
/** Ten lines of text have some 300 bytes. */
const TEXT_ROOMS: Rooms = [
  [300, 'stage-short'],
  [600, 'stage-middling'],
]
/** Markdown is larger and more spaced. */
const MARKDOWN_ROOMS: Rooms = [
  [100, 'stage-short'],
  [300, 'stage-middling'],
]
/** Most of a small archive is its list of entries. */
const ARCHIVE_ROOMS: Rooms = [
  [800, 'stage-short'],
  [1600, 'stage-middling'],
]

function roomsFor(kind: PreviewKind): Rooms {
  if (kind === 'archive') return ARCHIVE_ROOMS
  if (kind === 'markdown') return MARKDOWN_ROOMS
  return kind === 'pdf' ? [] : TEXT_ROOMS
}

function Read({ kind, size, children }: { kind: PreviewKind; size: number; children: ReactNode }) {
  const room = roomsFor(kind).find(([most]) => size < most)?.[1]
  return (
    <div
      aria-busy="true"
      className={`stage stage-read stage-${kind}${room === undefined ? '' : ` ${room}`}`}
      id="stage"
    >
      {children}
    </div>
  )
}

function OpenLink({ url, context }: { url: string | null; context: PageContext }) {
  return url === null ? null : <a href={url}>{context.texts.file.open}</a>
}

function Icon({ view }: { view: FilePageView }) {
  return <img alt="" className="file-icon" height="160" src={view.thumbnailUrl} width="160" />
}

function SpeedPlace() {
  return <div className="speed" id="speed" />
}

/** No caption track, because uploaded recordings come without captions. */
function player(kind: 'video' | 'audio', src: string, view: FilePageView) {
  return createElement(kind, {
    'aria-label': view.name,
    controls: true,
    playsInline: kind === 'video' ? true : undefined,
    poster: kind === 'video' ? (view.pictureUrl ?? undefined) : undefined,
    preload: 'metadata',
    src,
  })
}
