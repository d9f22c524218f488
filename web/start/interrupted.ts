import { RequestFailure } from './answers.ts'
import type { Entry } from './board.ts'
import { mayRead } from './file-handles.ts'
import type { KeptUpload } from './kept-uploads.ts'
import type { Picked } from './picked.ts'
import type { Parts, Runs } from './runs.ts'
import { isSame, otherThan } from './same-file.ts'
import { lookAtUpload } from './server.ts'
import { UploadOver } from './transfer.ts'
import type { UploadState } from './upload-item.ts'
import { judge } from './verdict.ts'

/** The uploads that an earlier page did not finish. */
export interface Interrupted {
  /** Lists them, and goes on with those that need nobody. */
  restore(): Promise<void>
  /** The unfinished upload of just this file, if there is one. */
  whoseFile(picked: Picked, folder: string | null): Entry | null
  /** Goes on with it, or says that it is not its file. */
  giveFile(entry: Entry, file: File): void
  /** In a click, in which the browser may ask: goes on with the file that it can find again. */
  reopen(entry: Entry): Promise<void>
}

export function createInterrupted(parts: Parts, runs: Runs): Interrupted {
  const { way, board, handles, finished, marks } = parts
  const { kept } = way
  const keptOf = ({ keptId }: Entry) => (keptId === null ? null : kept.find(keptId))

  function goOn(entry: Entry, file: File): void {
    if (entry.keptId === null) return
    kept.give(entry.keptId, file)
    runs.start(entry)
  }

  /** The file as the browser finds it again; null where it does not, or may not. */
  async function refind(upload: KeptUpload, ask: boolean): Promise<File | null> {
    const handle = await handles.find(upload.id)
    if (handle === null || !(await mayRead(handle, ask))) return null
    const file = await handle.getFile().catch(() => null)
    return file !== null && isSame(file, upload) ? file : null
  }

  async function pickUp(entry: Entry, upload: KeptUpload): Promise<void> {
    const file = upload.file ?? (await refind(upload, false))
    if (file !== null) {
      if (upload.file === null) kept.give(upload.id, file)
      if (upload.isPaused) board.setState(entry, { kind: 'paused' })
      else runs.start(entry)
      return
    }
    const hasHandle = (await handles.find(upload.id)) !== null
    board.setState(entry, { kind: 'interrupted', hasHandle, other: null })
    if (upload.created !== null) await look(entry, upload.created.address)
  }

  /** How far it is may be known better by the server. */
  async function look(entry: Entry, address: string): Promise<void> {
    try {
      const seen = await lookAtUpload(way.to, address)
      if (entry.item.state.kind !== 'interrupted') return
      if (seen.status === 'completed' || seen.status === 'processing') {
        runs.finish(entry)
        return
      }
      entry.sent = seen.received
      board.setState(entry, entry.item.state)
    } catch (error) {
      const isGone =
        error instanceof RequestFailure &&
        judge(error.answer, { limit: way.limit, isOnline: true }).kind === 'anew'
      if (isGone && entry.item.state.kind === 'interrupted') {
        runs.fail(entry, new UploadOver({ kind: 'expired' }))
      }
    }
  }

  function list(upload: KeptUpload): Entry {
    const { id, name, size, sent, created, file } = upload
    const state: UploadState =
      file === null ? { kind: 'interrupted', hasHandle: false, other: null } : { kind: 'paused' }
    return board.add({ name, size, sent, link: created?.link ?? null, state }, id, true)
  }

  return {
    async restore() {
      const links = new Set(finished.list().map(({ link }) => link))
      // The end of an upload may have come too late to be noted where unfinished ones are.
      for (const { id, created } of kept.list()) if (links.has(created?.link ?? null)) kept.remove(id)
      const all = kept.list().map((upload) => ({ upload, entry: list(upload) }))
      const found = all.filter(({ upload }) => !marks.has(upload.id))
      for (const { upload, entry } of all) {
        if (!marks.has(upload.id)) continue
        runs.giveUp(entry)
        board.remove(entry)
      }
      await Promise.all(found.map(({ entry, upload }) => pickUp(entry, upload)))
    },

    whoseFile({ file, path }, folder) {
      const found = board.all().find((entry) => {
        const upload = keptOf(entry)
        if (upload === null || !isSame(file, upload)) return false
        // Two folders may hold the same file; one that was in a folder may be chosen by itself when it is asked for.
        if (entry.item.state.kind === 'interrupted') return true
        return upload.path === path && upload.folder === folder
      })
      return found ?? null
    },

    giveFile(entry, file) {
      const upload = keptOf(entry)
      if (upload === null || entry.item.state.kind !== 'interrupted') return
      if (isSame(file, upload)) {
        goOn(entry, file)
        return
      }
      board.setState(entry, { ...entry.item.state, other: otherThan(upload, file) })
    },

    async reopen(entry) {
      const upload = keptOf(entry)
      const file = upload === null ? null : await refind(upload, true)
      if (file !== null) goOn(entry, file)
      // It was moved or changed, or the answer was no.
      else board.setState(entry, { kind: 'interrupted', hasHandle: false, other: null })
    },
  }
}
