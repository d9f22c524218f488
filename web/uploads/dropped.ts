import type { FileHandle } from './file-handles.ts'
import { byItself, type Picked } from './picked.ts'

/** What TypeScript's own types leave out. */
interface DroppedItem extends DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

/** What somebody has dropped. */
export interface Dropped {
  /** Those in folders included. */
  readonly files: readonly Picked[]
  /** Paths of folders with nothing in them, which no file brings along: `photos/2026`. */
  readonly emptyFolders: readonly string[]
}

/** All of a drop. What is in it has to be asked for before the event is over. */
export async function readDrop(dropped: DataTransfer): Promise<Dropped> {
  const items: DroppedItem[] = [...dropped.items].filter(({ kind }) => kind === 'file')
  const found = items.map((item) => contentOf(item))
  if (found.length === 0) return { files: [...dropped.files].map(byItself), emptyFolders: [] }
  return together(await Promise.all(found))
}

function together(some: readonly Dropped[]): Dropped {
  return {
    files: some.flatMap(({ files }) => files),
    emptyFolders: some.flatMap(({ emptyFolders }) => emptyFolders),
  }
}

/** What a folder holds, as it is told; `path` without a slash at its end. */
function folderOf(path: string, content: readonly Dropped[]): Dropped {
  return content.length === 0 ? { files: [], emptyFolders: [path] } : together(content)
}

const alone = (picked: Picked): Dropped => ({ files: [picked], emptyFolders: [] })
const NOTHING: Dropped = { files: [], emptyFolders: [] }

function contentOf(item: DroppedItem): Promise<Dropped> {
  const entry = item.webkitGetAsEntry?.() ?? null
  const file = item.getAsFile()
  const plain = () => {
    if (entry?.isDirectory) return contentOfEntry(entry, '')
    return Promise.resolve(file === null ? NOTHING : alone(byItself(file)))
  }
  if (item.getAsFileSystemHandle === undefined) return plain()
  return item.getAsFileSystemHandle().then(
    (handle) => (handle === null ? plain() : contentOfHandle(handle, '')),
    () => plain(),
  )
}

async function contentOfHandle(handle: FileSystemHandle, folder: string): Promise<Dropped> {
  if (isFile(handle))
    return alone({ file: await handle.getFile(), handle, path: pathIn(folder, handle.name) })
  if (!isFolder(handle)) return NOTHING
  const path = `${folder}${handle.name}`
  const content: Dropped[] = []
  for await (const inside of handle.values()) content.push(await contentOfHandle(inside, `${path}/`))
  return folderOf(path, content)
}

async function contentOfEntry(entry: FileSystemEntry, folder: string): Promise<Dropped> {
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    return alone({ file, handle: null, path: pathIn(folder, entry.name) })
  }
  if (!isFolderEntry(entry)) return NOTHING
  const path = `${folder}${entry.name}`
  const reader = entry.createReader()
  const content: Dropped[] = []
  for (;;) {
    // It gives a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
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
