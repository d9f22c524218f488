import { Button } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { DrawingName } from '../../shared/drawings/drawings.ts'
import { signInAddress } from '../../shared/sign-in-address.ts'
import { TOP } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { networkText } from '../network-text.ts'
import type { ListProblem } from '../problem.ts'
import { commandOfKey } from './key-command.ts'
import { isTouchDevice } from './use-entry-events.ts'
import { type FocusDue, useMessageFocus } from './use-row-focus.ts'

interface EmptyProps {
  readonly kind: ListProblem | 'empty' | 'nothing found'
  readonly isDue: FocusDue
}

export function Empty({ kind, isDue }: EmptyProps) {
  const files = useFiles()
  const place = useRef<HTMLDivElement>(null)
  useMessageFocus(place, isDue)
  return (
    <div
      className="empty-list"
      onKeyDown={(event) => {
        if (event.target === place.current && commandOfKey(event, files)) event.preventDefault()
      }}
      ref={place}
      tabIndex={-1}
    >
      <Message kind={kind} />
    </div>
  )
}

function Message({ kind }: Pick<EmptyProps, 'kind'>) {
  const { texts, commands, manager } = useFiles()
  const { problems } = texts
  switch (kind) {
    case 'empty':
      return (
        <Words
          drawing="upload"
          title={texts.empty}
          why={isTouchDevice() ? texts.emptyWhyByTouch : texts.emptyWhy}
        />
      )
    case 'nothing found':
      return <Words drawing="search" title={texts.nothingFound} why={texts.nothingFoundWhy} />
    case 'network':
      return (
        <Words
          drawing="alert"
          title={networkText(problems)}
          why={navigator.onLine ? problems.networkWhy : problems.offlineWhy}
        >
          <Button
            leftSection={<Drawing of="refresh" />}
            onClick={() => void manager.refresh()}
            variant="default"
          >
            {texts.actions.refresh}
          </Button>
        </Words>
      )
    case 'signed out':
      return (
        <Words drawing="lock" title={problems.signedOut} why={problems.signedOutWhy}>
          <Button component="a" href={signInAddress()}>
            {problems.signIn}
          </Button>
        </Words>
      )
    case 'missing':
      return (
        <Words drawing="alert" title={problems.missing} why={problems.missingWhy}>
          <Button onClick={() => commands.go(TOP)} variant="default">
            {problems.toTop}
          </Button>
        </Words>
      )
  }
}

interface WordsProps {
  readonly drawing: DrawingName
  readonly title: string
  readonly why: string
  readonly children?: ReactNode
}

function Words({ drawing, title, why, children }: WordsProps) {
  return (
    <>
      <Drawing of={drawing} size={40} />
      <h2>{title}</h2>
      <p className="quiet">{why}</p>
      {children}
    </>
  )
}
