import type { FileHandle } from './file-handles.ts'
import { byItself, type Picked } from './picked.ts'

/** Missing in TypeScript's types. */
interface DroppedItem extends DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

export interface Dropped {
  readonly files: readonly Picked[]
  /** `photos/2026` */
  readonly emptyFolders: readonly string[]
  /** Broken links, and entries without permission. */
  readonly unreadable: readonly string[]
}

/** Must be called before the drop event ends; reads all of it. */
export async function readDrop(dropped: DataTransfer): Promise<Dropped> {
  const items: DroppedItem[] = [...dropped.items].filter(({ kind }) => kind === 'file')
  const found = items.map((item) => contentOf(item))
  if (found.length === 0) return { ...NOTHING, files: [...dropped.files].map(byItself) }
  return together(await Promise.all(found))
}

function together(some: readonly Dropped[]): Dropped {
  return {
    files: some.flatMap(({ files }) => files),
    emptyFolders: some.flatMap(({ emptyFolders }) => emptyFolders),
    unreadable: some.flatMap(({ unreadable }) => unreadable),
  }
}

function folderOf(path: string, content: readonly Dropped[]): Dropped {
  return content.length === 0 ? { ...NOTHING, emptyFolders: [path] } : together(content)
}

const NOTHING: Dropped = { files: [], emptyFolders: [], unreadable: [] }
const alone = (picked: Picked): Dropped => ({ ...NOTHING, files: [picked] })
const unread = (path: string): Dropped => ({ ...NOTHING, unreadable: [path] })

function contentOf(item: DroppedItem): Promise<Dropped> {
  const entry = item.webkitGetAsEntry?.() ?? null
  const file = item.getAsFile()
  const plain = () => {
    if (entry?.isDirectory) return contentOfEntry(entry, '')
    if (file !== null) return Promise.resolve(alone(byItself(file)))
    return Promise.resolve(entry === null ? NOTHING : unread(entry.name))
  }
  if (item.getAsFileSystemHandle === undefined) return plain()
  return item.getAsFileSystemHandle().then(
    (handle) => (handle === null ? plain() : contentOfHandle(handle, '')),
    () => plain(),
  )
}

async function contentOfHandle(handle: FileSystemHandle, folder: string): Promise<Dropped> {
  const path = `${folder}${handle.name}`
  if (isFile(handle)) {
    const file = await handle.getFile().catch(() => null)
    return file === null ? unread(path) : alone({ file, handle, path: pathIn(folder, handle.name) })
  }
  if (!isFolder(handle)) return NOTHING
  const content: Dropped[] = []
  try {
    for await (const inside of handle.values()) content.push(await contentOfHandle(inside, `${path}/`))
  } catch {
    content.push(unread(path))
  }
  return folderOf(path, content)
}

async function contentOfEntry(entry: FileSystemEntry, folder: string): Promise<Dropped> {
  const path = `${folder}${entry.name}`
  if (isFileEntry(entry)) {
    const file = await new Promise<File | null>((resolve) => entry.file(resolve, () => resolve(null)))
    return file === null ? unread(path) : alone({ file, handle: null, path: pathIn(folder, entry.name) })
  }
  if (!isFolderEntry(entry)) return NOTHING
  const reader = entry.createReader()
  const content: Dropped[] = []
  for (;;) {
    // It returns a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[] | null>((resolve) =>
      reader.readEntries(resolve, () => resolve(null)),
    )
    if (some === null) return together([...content, unread(path)])
    if (some.length === 0) return folderOf(path, content)
    for (const inside of some) content.push(await contentOfEntry(inside, `${path}/`))
  }
}

function pathIn(folder: string, name: string): string | null {
  return folder === '' ? null : `${folder}${name}`
}

function isFile(handle: FileSystemHandle): handle is FileHandle {
  return handle.kind === 'file'
}

function isFolder(handle: FileSystemHandle): handle is FileSystemDirectoryHandle {
  return handle.kind === 'directory'
}

function isFileEntry(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolderEntry(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
