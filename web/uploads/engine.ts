import { backoff } from '../../src/client/policy/upload-policy.ts'
import type { Picked } from './picked.ts'
import { NO_PACE, type UploadItem, type Uploads } from './upload-item.ts'
import type { UploadList } from './uploads.ts'

/** Uploads of the page, usable before their code is loaded. */
export interface UploadEngine {
  snapshot(): Uploads
  subscribe(changed: () => void): () => void
  add(picked: readonly Picked[], folder?: string | null): void
  /** Called once the list exists; synchronously, so within the click, if it does. */
  act(action: (list: UploadList) => void): void
  open(): void
}

export const NOTHING: Uploads = { items: [], total: { size: 0, sent: 0, pace: NO_PACE, isActive: false } }

export function createEngine(open: () => Promise<UploadList>): UploadEngine {
  const listeners = new Set<() => void>()
  let list: UploadList | null = null
  let opening = false
  let failures = 0
  let waiting: ((list: UploadList) => void)[] = []
  let shown = NOTHING

  function publish(): void {
    for (const changed of listeners) changed()
  }

  function start(): void {
    if (opening) return
    opening = true
    open().then(
      (opened) => {
        list = opened
        opened.subscribe(publish)
        for (const action of waiting) action(opened)
        waiting = []
        publish()
      },
      () => {
        // Offline, perhaps; the queued actions stay.
        opening = false
        setTimeout(start, backoff(failures, Math.random()))
        failures += 1
      },
    )
  }

  function act(action: (list: UploadList) => void): void {
    if (list !== null) {
      action(list)
      return
    }
    waiting.push(action)
    start()
  }

  return {
    snapshot: () => list?.snapshot() ?? shown,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    add(picked, folder = null) {
      if (picked.length === 0) return
      if (list !== null) {
        list.add(picked, folder)
        return
      }
      const first = shown.items.length
      const added = picked.map((each, index) => soon(each, folder, first + index))
      shown = { ...shown, items: [...shown.items, ...added], total: { ...shown.total, isActive: true } }
      publish()
      // Rows keep their ids, so clicks in them and the focus survive.
      const ids = added.map(({ id }) => id)
      act((opened) => opened.add(picked, folder, ids))
    },
    act,
    open: start,
  }
}

function soon({ file, path }: Picked, folder: string | null, index: number): UploadItem {
  const { name, size } = file
  const id = `soon-${index}`
  return { id, name, size, sent: 0, link: null, folder, path, file, state: { kind: 'starting' } }
}
