import { Button } from '@mantine/core'
import { Drawing } from '../shared/drawing.tsx'
import type { DrawingName } from '../shared/drawings.ts'
import { ChooseAgain } from './choose-again.tsx'
import type { Engine } from './engine.ts'
import type { StartAppTexts } from './texts.ts'
import { isActive, type UploadItem } from './upload-item.ts'
import type { UploadList } from './uploads.ts'
import type { Problem } from './verdict.ts'

interface RowActionsProps {
  readonly engine: Engine
  readonly item: UploadItem
  readonly texts: StartAppTexts
}

interface Action {
  readonly label: string
  readonly drawing: DrawingName
  /** It is what the person is most likely to want. */
  readonly isMain?: boolean
  readonly action: (list: UploadList) => void
}

/** What can be done about an upload in the state that it is in. */
export function RowActions({ engine, item, texts }: RowActionsProps) {
  const { id, name, state } = item
  /** What comes for a button that was pressed has the same `place`, so that the focus stays there. */
  const button = (place: 'going' | 'ending', { label, drawing, isMain = false, action }: Action) => (
    <Button
      aria-label={`${label}: ${name}`}
      className={isMain ? 'wide-button' : 'quiet-button'}
      key={place}
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
    button('ending', { label: texts.remove, drawing: 'cross', action: (list) => list.remove(id) })

  if (isActive(item)) return [pause(), cancel()]
  switch (state.kind) {
    case 'paused':
      return [goOn(texts.resume, 'play'), cancel()]
    case 'interrupted':
      return [<FindFile engine={engine} item={item} key="find" texts={texts} />, cancel()]
    case 'cancelled':
      return undo()
    case 'failed':
      return canTryAgain(state.problem) ? [goOn(texts.retry, 'refresh'), remove()] : remove()
    case 'done':
      return remove()
    default:
      return null
  }
}

/** Gives an interrupted upload its file: by one click where the browser knows it, else by choosing it once more. */
function FindFile({ engine, item: { id, name, state }, texts }: RowActionsProps) {
  const hasHandle = state.kind === 'interrupted' && state.hasHandle

  return (
    <>
      {hasHandle ? (
        <Button
          aria-label={`${texts.continue}: ${name}`}
          className="wide-button"
          leftSection={<Drawing of="play" />}
          onClick={() => engine.act((list) => list.reopen(id))}
          variant="light"
        >
          {texts.continue}
        </Button>
      ) : null}
      <ChooseAgain
        chosen={(file) => engine.act((list) => list.giveFile(id, file))}
        className={hasHandle ? 'quiet-button' : 'wide-button'}
        label={texts.chooseAgain}
        leftSection={<Drawing of="file" />}
        name={name}
        variant={hasHandle ? 'subtle' : 'light'}
      />
    </>
  )
}

/** Of the others the file is no longer at hand, or nothing would change. */
function canTryAgain({ kind }: Problem): boolean {
  return kind === 'no-room' || kind === 'proxy' || kind === 'refused'
}
