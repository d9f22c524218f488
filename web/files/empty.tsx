import { Button } from '@mantine/core'
import { Drawing } from '../shared/drawing.tsx'
import type { DrawingName } from '../shared/drawings.ts'
import { TOP } from './entry.ts'
import { useFiles } from './files-context.ts'
import type { Problem } from './manager.ts'

/** Why there is nothing to see, and what to do about it. */
export function Empty({ kind }: { kind: Problem | 'empty' | 'nothing found' }) {
  const { texts, commands, manager } = useFiles()
  const { problems } = texts
  switch (kind) {
    case 'empty':
      return <Message drawing="upload" title={texts.empty} why={texts.emptyWhy} />
    case 'nothing found':
      return <Message drawing="search" title={texts.nothingFound} why={texts.nothingFoundWhy} />
    case 'network':
      return (
        <Message drawing="alert" title={problems.network} why={problems.networkWhy}>
          <Button
            leftSection={<Drawing of="refresh" />}
            onClick={() => void manager.refresh()}
            variant="default"
          >
            {texts.actions.refresh}
          </Button>
        </Message>
      )
    case 'signed out':
      return <Message drawing="lock" title={problems.signedOut} why={problems.signedOutWhy} />
    case 'missing':
      return (
        <Message drawing="alert" title={problems.missing} why={problems.missingWhy}>
          <Button onClick={() => commands.go(TOP)} variant="default">
            {problems.toTop}
          </Button>
        </Message>
      )
  }
}

interface MessageProps {
  readonly drawing: DrawingName
  readonly title: string
  readonly why: string
  readonly children?: React.ReactNode
}

function Message({ drawing, title, why, children }: MessageProps) {
  return (
    <div className="empty-list">
      <Drawing of={drawing} size={40} />
      <h2>{title}</h2>
      <p className="quiet">{why}</p>
      {children}
    </div>
  )
}
