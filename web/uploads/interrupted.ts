import { RequestFailure } from './answers.ts'
import type { BoardEntry } from './board.ts'
import { mayRead } from './file-handles.ts'
import type { FileOrigin, KeptUpload } from './kept-uploads.ts'
import type { Picked, PickedTarget } from './picked.ts'
import { hasSameBytes, isAlike, otherThan } from './same-file.ts'
import { fetchUpload } from './server.ts'
import { UploadOver } from './transfer-context.ts'
import type { UploadPhase } from './upload-item.ts'
import type { UploadRunContext, UploadRunner } from './upload-runner.ts'
import { classifyFailure } from './verdict.ts'

export class Interrupted {
  readonly #parts: UploadRunContext
  readonly #runs: UploadRunner
  /** Files given by the user as matching. */
  readonly #given = new Map<BoardEntry, { readonly file: File; readonly picked: PickedTarget | null }>()
  readonly #others = new WeakMap<BoardEntry, WeakSet<File>>()

  constructor(parts: UploadRunContext, runs: UploadRunner) {
    this.#parts = parts
    this.#runs = runs
  }

  async restore(): Promise<void> {
    const { way, board, finished, marks } = this.#parts
    const links = new Set(finished.list().map(({ link }) => link))
    // The page may have closed before a finished upload was removed from the store.
    for (const { id, created } of way.kept.list()) if (links.has(created?.link ?? null)) way.kept.remove(id)
    const all = way.kept.list().map((upload) => ({ upload, entry: this.#list(upload) }))
    for (const { upload, entry } of all) {
      if (!marks.has(upload.id)) continue
      this.#runs.giveUp(entry)
      board.remove(entry)
    }
    const wanted = all.filter(({ upload }) => !marks.has(upload.id))
    await Promise.all(wanted.map(({ entry, upload }) => this.#pickUp(entry, upload)))
  }

  /** As far as the server's bytes tell. Matches an upload from a folder with its file chosen singly. */
  whoseFile({ file, path }: Picked, folder: string | null): BoardEntry | null {
    const found = this.#parts.board.all().find((entry) => {
      const upload = this.#keptOf(entry)
      if (upload === null || entry.item.state.kind !== 'interrupted' || !isAlike(file, upload)) return false
      return (
        !this.#others.get(entry)?.has(file) &&
        upload.folder === folder &&
        (path === null || upload.path === path)
      )
    })
    return found ?? null
  }

  async whichHas(
    picked: Picked,
    folder: string | null,
    among: readonly BoardEntry[],
  ): Promise<BoardEntry | null> {
    for (const entry of this.#like(picked, folder, among)) {
      const upload = this.#keptOf(entry)
      if (upload === null || upload.file === null) continue
      const { file, handle } = upload
      if (await hasSameBytes(picked, { file, handle })) return entry
    }
    return null
  }

  mayHave(picked: Picked, folder: string | null, among: readonly BoardEntry[]): boolean {
    return this.#like(picked, folder, among).length > 0
  }

  #like({ file, path }: Picked, folder: string | null, among: readonly BoardEntry[]): readonly BoardEntry[] {
    return among.filter((entry) => {
      const upload = this.#keptOf(entry)
      if (upload?.file == null || entry.item.state.kind === 'interrupted') return false
      return isAlike(file, upload) && upload.path === path && upload.folder === folder
    })
  }

  /** `picked`: a file dropped or chosen unasked, which becomes an upload of its own if it is different. */
  giveFile(entry: BoardEntry, file: File, picked: PickedTarget | null = null): void {
    const upload = this.#keptOf(entry)
    if (upload === null || entry.item.state.kind !== 'interrupted') return
    if (isAlike(file, upload)) {
      this.#given.set(entry, { file, picked })
      this.#goOn(entry, file, 'given')
    } else this.#parts.board.setState(entry, { ...entry.item.state, other: otherThan(upload, file) })
  }

  /** False for a file that the user did not give. `left`: called with one given unasked. */
  takeBack(entry: BoardEntry, left: (picked: PickedTarget) => void): boolean {
    const { keptId } = entry
    const upload = this.#keptOf(entry)
    const given = this.#given.get(entry)
    if (keptId === null || upload === null || given === undefined) return false
    const { file, picked } = given
    this.#given.delete(entry)
    this.#others.set(entry, (this.#others.get(entry) ?? new WeakSet()).add(file))
    this.#parts.way.kept.takeBack(keptId)
    const other = picked === null ? { name: file.name, size: file.size, isNewer: true } : null
    this.#parts.board.setState(entry, { kind: 'interrupted', hasHandle: upload.handle !== null, other })
    if (picked !== null) left(picked)
    return true
  }

  async reopen(entry: BoardEntry): Promise<void> {
    const upload = this.#keptOf(entry)
    const file = upload === null ? null : await refind(upload, true)
    if (file !== null) this.#goOn(entry, file, 'found')
    // Moved, changed, or refused by the user.
    else this.#parts.board.setState(entry, { kind: 'interrupted', hasHandle: false, other: null })
  }

  #keptOf({ keptId }: BoardEntry): KeptUpload | null {
    return keptId === null ? null : this.#parts.way.kept.find(keptId)
  }

  #list(upload: KeptUpload): BoardEntry {
    const { id, name, size, sent, created, file, folder, path } = upload
    const state: UploadPhase =
      file === null ? { kind: 'interrupted', hasHandle: false, other: null } : { kind: 'paused' }
    const link = created?.link ?? null
    const shown = { name, size, sent, link, folder, path, state, ...(file === null ? {} : { file }) }
    return this.#parts.board.add(shown, id, true)
  }

  async #pickUp(entry: BoardEntry, upload: KeptUpload): Promise<void> {
    const { way, board } = this.#parts
    const file = upload.file ?? (await refind(upload, false))
    if (file !== null) {
      if (upload.file === null) way.kept.give(upload.id, file, 'found')
      if (upload.isPaused) board.setState(entry, { kind: 'paused' })
      else this.#runs.start(entry)
      return
    }
    board.setState(entry, { kind: 'interrupted', hasHandle: upload.handle !== null, other: null })
    if (upload.created !== null) await this.#look(entry, upload.created.address)
  }

  /** The server may know the offset better. */
  async #look(entry: BoardEntry, address: string): Promise<void> {
    const { way, board } = this.#parts
    try {
      const seen = await fetchUpload(way.to, address)
      if (entry.item.state.kind !== 'interrupted') return
      if (seen.status === 'completed' || seen.status === 'processing') {
        this.#runs.finish(entry)
        return
      }
      entry.sent = seen.received
      board.setState(entry, entry.item.state)
    } catch (error) {
      const isGone =
        error instanceof RequestFailure &&
        classifyFailure(error.answer, { limit: way.limit, isOnline: true }).kind === 'anew'
      if (isGone && entry.item.state.kind === 'interrupted') {
        this.#runs.fail(entry, new UploadOver({ kind: 'expired' }))
      }
    }
  }

  #goOn(entry: BoardEntry, file: File, origin: FileOrigin): void {
    if (entry.keptId === null) return
    this.#parts.way.kept.give(entry.keptId, file, origin)
    this.#runs.start(entry)
  }
}

/** Null when the browser cannot or may not find the file. `ask`: see `mayRead`. */
async function refind({ handle, ...upload }: KeptUpload, ask: boolean): Promise<File | null> {
  if (handle === null || !(await mayRead(handle, ask))) return null
  const file = await handle.getFile().catch(() => null)
  return file !== null && isAlike(file, upload) ? file : null
}
