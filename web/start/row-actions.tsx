import { Button } from '@mantine/core'
import { type ChangeEvent, useRef } from 'react'
import { Drawing } from '../shared/drawing.tsx'
import type { DrawingName } from '../shared/drawings.ts'
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

/** What can be done about an upload in the state that it is in. */
export function RowActions({ engine, item, texts }: RowActionsProps) {
  const { id, name, state } = item
  const button = (
    label: string,
    drawing: DrawingName,
    action: (list: UploadList) => void,
    isMain = false,
  ) => (
    <Button
      aria-label={`${label}: ${name}`}
      className={isMain ? 'wide-button' : 'quiet-button'}
      key={label}
      leftSection={<Drawing of={drawing} />}
      onClick={() => engine.act(action)}
      variant={isMain ? 'light' : 'subtle'}
    >
      {label}
    </Button>
  )
  const goOn = (label: string, drawing: DrawingName) =>
    button(label, drawing, (list) => list.resume(id), true)
  const cancel = () => button(texts.cancel, 'cross', (list) => list.cancel(id))
  const remove = () => button(texts.remove, 'cross', (list) => list.remove(id))

  if (isActive(item)) return [button(texts.pause, 'pause', (list) => list.pause(id)), cancel()]
  switch (state.kind) {
    case 'paused':
      return [goOn(texts.resume, 'play'), cancel()]
    case 'interrupted':
      return [<FindFile engine={engine} item={item} key="find" texts={texts} />, cancel()]
    case 'cancelled':
      return goOn(texts.undo, 'undo')
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
  const field = useRef<HTMLInputElement>(null)
  const hasHandle = state.kind === 'interrupted' && state.hasHandle

  function chosen({ currentTarget }: ChangeEvent<HTMLInputElement>): void {
    const file = currentTarget.files?.item(0)
    if (file) engine.act((list) => list.giveFile(id, file))
    currentTarget.value = ''
  }

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
      <Button
        aria-label={`${texts.chooseAgain}: ${name}`}
        className={hasHandle ? 'quiet-button' : 'wide-button'}
        leftSection={<Drawing of="file" />}
        onClick={() => field.current?.click()}
        variant={hasHandle ? 'subtle' : 'light'}
      >
        {texts.chooseAgain}
      </Button>
      <input
        aria-hidden="true"
        data-again={name}
        hidden
        onChange={chosen}
        ref={field}
        tabIndex={-1}
        type="file"
      />
    </>
  )
}

/** Of the others the file is no longer at hand, or nothing would change. */
function canTryAgain({ kind }: Problem): boolean {
  return kind === 'no-room' || kind === 'proxy' || kind === 'refused'
}
