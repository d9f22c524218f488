import { isFolderCalled } from '../../src/domain/folder-name.ts'
import { toClipboard } from '../shared/clipboard.ts'
import { refusedRequest } from '../shared/fetch-json.ts'
import { fill, type Words } from '../shared/words.ts'
import type { Target } from '../uploads/upload-item.ts'
import { archiveOf, BATCH_SIZE, folderArchive } from './client.ts'
import type { FilesPageData } from './data.ts'
import { type Entry, type FolderEntry, filesOf, foldersOf, type Place, TOP } from './entry.ts'
import type { FolderTree } from './folders/folder-tree.ts'
import { makeFolders } from './folders/make-folders.ts'
import type { Manager } from './manager.ts'
import { failureText, reasonOf } from './network-text.ts'
import { selectedCount } from './selection/selection.ts'

export type OpenDialog =
  | { readonly kind: 'new folder' | 'uploads' | 'bin' | 'links' | 'folders' }
  | { readonly kind: 'rename'; readonly entry: Entry }
  | { readonly kind: 'move' | 'share'; readonly entries: readonly Entry[] }
  | { readonly kind: 'settings'; readonly folder: FolderEntry }

export interface Commands {
  go(place: Place): void
  open(entry: Entry): void
  show(dialog: OpenDialog): void
  showDetails(isShown: boolean): void
  download(): Promise<void>
  copyLinks(entries: readonly Entry[]): Promise<void>
  remove(entries: readonly Entry[]): void
  move(entries: readonly Entry[], to: Place): void
  makeFolders(place: Place, paths: readonly string[]): void
  undo(operation: number): void
  undoLast(): void
  withChosen(act: (entries: readonly Entry[]) => void): void
  /** Shown, and announced to screen readers. */
  say(text: string): void
  failed(error: unknown): void
}

export function createCommands(parts: {
  readonly manager: Manager
  readonly data: FilesPageData
  readonly words: Words
  readonly go: (place: Place) => void
  readonly show: (dialog: OpenDialog) => void
  readonly showDetails: (isShown: boolean) => void
  readonly say: (text: string) => void
}): Commands {
  const { manager, data, words, go, show, showDetails, say } = parts
  const { texts } = data

  const linkOf = (entry: Entry) => (entry.kind === 'file' ? entry.url : `${data.publicUrl}/f/${entry.id}`)

  const isPrivate = (entry: Entry) => isOwnersAlone(manager.snapshot().tree, entry)

  /** Null for a folder with too much for one zip. */
  async function addressOfChosen(): Promise<string | null> {
    const { selection, query } = manager.snapshot()
    const count = selectedCount(selection, manager.listing.total() ?? 0)
    // A folder's own zip has no limit.
    if (count > 1 && (await manager.isAllChosen())) return folderArchive(query.place)
    if (count > BATCH_SIZE) return null
    const entries = await manager.chosen()
    const [first, another] = entries
    if (first === undefined || another !== undefined) return archiveOf(filesOf(entries), foldersOf(entries))
    return first.kind === 'folder' ? folderArchive(first.id) : `${new URL(first.url).pathname}?download=1`
  }

  function failed(error: unknown): void {
    const code = refusedRequest(error)
    const text = code === null ? failureText(error, texts) : reasonOf(code, texts)
    if (text !== null) say(text)
  }

  return {
    go,
    open(entry) {
      if (entry.kind === 'folder') go(entry.id)
      else showDetails(true)
    },
    show,
    showDetails,
    async download() {
      try {
        const address = await addressOfChosen()
        if (address === null) say(fill(texts.dialogs.tooManyForZip, { most: words.number(BATCH_SIZE) }))
        else startDownload(address)
      } catch (error) {
        failed(error)
      }
    },
    async copyLinks(entries) {
      const isCopied = await toClipboard(entries.map(linkOf).join('\n'))
      if (!isCopied) say(texts.announced.copyFailed)
      else say(entries.some(isPrivate) ? texts.announced.copiedPrivate : texts.announced.copied)
    },
    remove(entries) {
      if (entries.length > 0) void manager.remove(entries)
    },
    move(entries, to) {
      void manager.move(entries, to)
    },
    makeFolders(place, paths) {
      if (paths.length === 0) return
      makeFolders(place, paths)
        .catch(failed)
        .finally(() => void manager.refresh())
    },
    undo: (operation) => void manager.undo(operation),
    undoLast: () => void manager.undoLast(),
    withChosen(act) {
      manager.chosen().then(act, failed)
    },
    say,
    failed,
  }
}

export function isOwnersAlone(tree: FolderTree | null, entry: Entry): boolean {
  const above = tree?.path(entry.place) ?? []
  return (entry.kind === 'folder' && !entry.isPublic) || above.some(({ isPublic }) => !isPublic)
}

export function isPrivateTarget(tree: FolderTree | null, { folder, path }: Target): boolean {
  if (tree === null) return false
  let place = folder ?? TOP
  for (const name of path?.split('/').slice(0, -1) ?? []) {
    const inner = tree.children(place).find((child) => isFolderCalled(child.name, name))
    // It is yet to be made, and is then as open as the one around it.
    if (inner === undefined) break
    place = inner.id
  }
  return tree.path(place).some(({ isPublic }) => !isPublic)
}

function startDownload(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}

/** A folder goes neither into itself nor into a descendant. */
export function mayGo(manager: Manager, entries: readonly Entry[], to: Place): boolean {
  const { tree } = manager.snapshot()
  if (entries.every(({ place }) => place === to)) return false
  return foldersOf(entries).every(({ id }) => to === TOP || tree?.isWithin(to, id) === false)
}
