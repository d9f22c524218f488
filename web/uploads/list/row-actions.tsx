import { Button } from '@mantine/core'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import type { DrawingName } from '../../shared/drawings/drawings.ts'
import type { UploadEngine } from '../engine.ts'
import type { StartAppTexts } from '../texts.ts'
import { isActive, type UploadItem } from '../upload-item.ts'
import type { UploadList } from '../uploads.ts'
import type { UploadProblem } from '../verdict.ts'
import { ChooseAgain } from './choose-again.tsx'
import { canTryAgain, helpWith } from './problem-help.ts'

interface RowActionsProps {
  readonly engine: UploadEngine
  readonly item: UploadItem
  readonly texts: StartAppTexts
}

interface Action {
  readonly label: string
  readonly drawing: DrawingName
  readonly isMain?: boolean
  readonly action: (list: UploadList) => void
}

/** Key of a button in its row: unique at any time. */
type Place = 'going' | 'ending' | 'removing'

export function RowActions({ engine, item, texts }: RowActionsProps) {
  const { id, name, state } = item
  /** A button's successor has its `place`, so that the focus stays. */
  const button = (place: Place, { label, drawing, isMain = false, action }: Action) => (
    <Button
      key={place}
      aria-label={`${label}: ${name}`}
      {...(isMain ? {} : { className: 'quiet-button' })}
      leftSection={<Drawing of={drawing} />}
      onClick={() => engine.act(action)}
      variant={isMain ? 'light' : 'subtle'}
    >
      {label}
    </Button>
  )
  const resume = (list: UploadList) => list.resume(id)
  const goOn = (label: string, drawing: DrawingName) =>
    button('going', { label, drawing, isMain: true, action: resume })
  const pause = () =>
    button('going', { label: texts.pause, drawing: 'pause', action: (list) => list.pause(id) })
  const cancel = () =>
    button('ending', { label: texts.cancel, drawing: 'cross', action: (list) => list.cancel(id) })
  const undo = () => button('ending', { label: texts.undo, drawing: 'undo', isMain: true, action: resume })
  const remove = () =>
    button('removing', { label: texts.remove, drawing: 'cross', action: (list) => list.remove(id) })

  if (state.kind === 'waiting' && state.reason !== 'offline' && state.reason !== 'rate') {
    const tryNow = (list: UploadList) => list.tryNow()
    return [button('going', { label: texts.tryNow, drawing: 'refresh', action: tryNow }), cancel()]
  }
  if (isActive(item)) return [pause(), cancel()]
  switch (state.kind) {
    case 'paused':
      return [goOn(texts.resume, 'play'), cancel()]
    case 'interrupted':
      return [<FindFile engine={engine} item={item} key="find" texts={texts} />, cancel()]
    case 'cancelled':
      return undo()
    case 'failed':
      return [
        <ProblemLink key="help" problem={state.problem} texts={texts} />,
        canTryAgain(state.problem) ? goOn(texts.retry, 'refresh') : null,
        remove(),
      ]
    case 'done':
    case 'deleted':
      return remove()
    case 'starting':
    case 'queued':
    case 'sending':
    case 'waiting':
    case 'processing':
      return null
  }
}

function FindFile({ engine, item: { id, name, state }, texts }: RowActionsProps) {
  const hasHandle = state.kind === 'interrupted' && state.hasHandle

  return (
    <>
      {hasHandle ? (
        <Button
          aria-label={`${texts.continue}: ${name}`}
          leftSection={<Drawing of="play" />}
          onClick={() => engine.act((list) => list.reopen(id))}
          variant="light"
        >
          {texts.continue}
        </Button>
      ) : null}
      <ChooseAgain
        chosen={(file) => engine.act((list) => list.giveFile(id, file))}
        {...(hasHandle ? { className: 'quiet-button' } : {})}
        label={texts.chooseAgain}
        leftSection={<Drawing of="file" />}
        name={name}
        variant={hasHandle ? 'subtle' : 'light'}
      />
    </>
  )
}

function ProblemLink({ problem, texts }: { problem: UploadProblem; texts: StartAppTexts }) {
  const help = helpWith(problem, texts)
  if (help === null) return null
  return (
    <Button component="a" href={help.href} target={help.target} variant="light">
      {help.label}
    </Button>
  )
}
