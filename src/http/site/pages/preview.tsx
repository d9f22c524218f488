import { createElement, type ReactNode } from 'react'
import type { PreviewKind } from '../../../../web/file/data.ts'
import type { FilePageView } from '../views.ts'
import type { PageContext } from './context.ts'

interface Props {
  readonly view: FilePageView
  readonly context: PageContext
}

/**
 * The thing itself, as far as it shows without scripts, which take it from there. Its room is fixed before it arrives,
 * so that nothing jumps.
 */
export function Preview({ view, context }: Props) {
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
            {preview.opens ? <a href={preview.url}>{context.texts.file.open}</a> : null}
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

/** Bytes, and the class of a stage for fewer. A text that fills no screen gets less room, known before it is here. */
const ROOMS = [
  [800, 'stage-short'],
  [1600, 'stage-middling'],
] as const
const TEXTS: ReadonlySet<PreviewKind> = new Set(['text', 'code', 'markdown', 'table'])

/** What scripts read and show. */
function Read({ kind, size, children }: { kind: PreviewKind; size: number; children: ReactNode }) {
  const room = TEXTS.has(kind) ? ROOMS.find(([most]) => size < most)?.[1] : undefined
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

function Icon({ view }: { view: FilePageView }) {
  return <img alt="" className="file-icon" height="160" src={view.thumbnailUrl} width="160" />
}

/** Room for what a script puts there. */
function SpeedPlace() {
  return <div className="speed" id="speed" />
}

/** People's own recordings come without captions, so there is no track to offer. */
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
