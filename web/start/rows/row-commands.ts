import type { DrawingName } from '../../shared/drawings/drawings.ts'
import { canTryAgain, helpWith } from '../../uploads/list/problem-help.ts'
import type { StartAppTexts } from '../../uploads/texts.ts'
import { isActive, type UploadItem } from '../../uploads/upload-item.ts'
import type { UploadList } from '../../uploads/uploads.ts'

export type RowCommand =
  | RowAct
  | RowLink
  /** The user gives the file once more. */
  | { readonly kind: 'choose'; readonly label: string }
  | { readonly kind: 'copy'; readonly label: string; readonly text: string }

interface RowAct {
  readonly kind: 'act'
  readonly label: string
  readonly drawing: DrawingName
  readonly isDeletion?: true
  readonly act: (list: UploadList) => void
}

interface RowLink {
  readonly kind: 'link'
  readonly label: string
  readonly href: string
  /** A new window leaves this one's uploads alone. */
  readonly target?: '_blank'
}

export interface RowCommands {
  /** Shown in the row, in order: what a user who looks at it needs. */
  readonly shown: readonly RowCommand[]
  readonly menu: readonly RowCommand[]
}

interface Addresses {
  /** Of the file alone; null where it has none that opens it. */
  readonly link: string | null
  /** Of its receipt; null for none. */
  readonly receipt: string | null
}

/** `isTransfer`: what is stored stays listed, as a part of the transfer. */
export function commandsOf(
  item: UploadItem,
  texts: StartAppTexts,
  { link, receipt }: Addresses,
  isTransfer: boolean,
): RowCommands {
  const { id, state } = item
  const act = (label: string, drawing: DrawingName, action: (list: UploadList) => void): RowAct => ({
    ...{ kind: 'act', label, drawing, act: action },
  })
  const resume = (label: string, drawing: DrawingName) => act(label, drawing, (list) => list.resume(id))
  const pause = act(texts.pause, 'pause', (list) => list.pause(id))
  const cancel = act(texts.cancel, 'cross', (list) => list.cancel(id))
  const remove = act(texts.remove, 'cross', (list) => list.remove(id))
  const ofFile: RowCommand[] = [
    ...(link === null
      ? []
      : ([
          { kind: 'copy', label: texts.transfer.copyFile, text: link },
          { kind: 'link', label: texts.transfer.openFile, href: link, target: '_blank' },
        ] as const)),
    ...(receipt === null ? [] : ([{ kind: 'link', label: texts.earlier.manage, href: receipt }] as const)),
  ]
  const goneFromList = isTransfer ? [] : [remove]

  if (state.kind === 'waiting' && state.reason !== 'offline' && state.reason !== 'rate') {
    const tryNow = act(texts.tryNow, 'refresh', (list) => list.tryNow())
    return { shown: [tryNow], menu: [pause, cancel, ...ofFile] }
  }
  if (isActive(item)) return { shown: [], menu: [pause, cancel, ...ofFile] }
  switch (state.kind) {
    case 'paused':
      return { shown: [resume(texts.resume, 'play')], menu: [cancel, ...ofFile] }
    case 'interrupted': {
      const choose: RowCommand = { kind: 'choose', label: texts.chooseAgain }
      const reopen = act(texts.continue, 'play', (list) => list.reopen(id))
      return state.hasHandle
        ? { shown: [reopen], menu: [choose, cancel] }
        : { shown: [choose], menu: [cancel] }
    }
    case 'cancelled':
      return { shown: [resume(texts.undo, 'undo')], menu: [] }
    case 'failed': {
      const help = helpWith(state.problem, texts)
      const links: RowLink[] = help === null ? [] : [{ kind: 'link', ...help }]
      const again = canTryAgain(state.problem) ? [resume(texts.retry, 'refresh')] : []
      return { shown: [...links, ...again].slice(0, 2), menu: [remove] }
    }
    case 'done': {
      const step = (label: string, drawing: DrawingName, to: 'ask' | 'do' | 'keep') =>
        act(label, drawing, (list) => list.deletion(id, to))
      if (state.deletion === 'asked' || state.deletion === 'failed') {
        return {
          shown: [
            step(texts.keep, 'undo', 'keep'),
            { ...step(texts.deleteForGood, 'trash', 'do'), isDeletion: true },
          ],
          menu: [],
        }
      }
      const deletion = state.deletion === 'possible' ? [step(texts.delete, 'trash', 'ask')] : []
      return { shown: [], menu: [...ofFile, ...deletion, ...goneFromList] }
    }
    case 'deleted':
      return { shown: [], menu: [remove] }
    case 'starting':
    case 'queued':
    case 'sending':
    case 'waiting':
    case 'processing':
      return { shown: [], menu: ofFile }
  }
}
