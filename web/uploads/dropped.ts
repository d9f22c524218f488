import type { FileHandle } from './file-handles.ts'
import { byItself, type Picked } from './picked.ts'

/** What TypeScript's own types leave out. */
interface DroppedItem extends DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

/** All files of a drop, those in folders included. What is in it has to be asked for before the event is over. */
export function droppedFiles(dropped: DataTransfer): Promise<Picked[]> {
  const items: DroppedItem[] = [...dropped.items].filter(({ kind }) => kind === 'file')
  const found = items.map((item) => filesOf(item))
  if (found.length === 0) return Promise.resolve([...dropped.files].map(byItself))
  return Promise.all(found).then((each) => each.flat())
}

function filesOf(item: DroppedItem): Promise<Picked[]> {
  const entry = item.webkitGetAsEntry?.() ?? null
  const file = item.getAsFile()
  const plain = () => {
    if (entry?.isDirectory) return filesOfEntry(entry, '')
    return Promise.resolve(file === null ? [] : [byItself(file)])
  }
  if (item.getAsFileSystemHandle === undefined) return plain()
  return item.getAsFileSystemHandle().then(
    (handle) => (handle === null ? plain() : filesOfHandle(handle, '')),
    () => plain(),
  )
}

async function filesOfHandle(handle: FileSystemHandle, folder: string): Promise<Picked[]> {
  if (isFile(handle)) return [{ file: await handle.getFile(), handle, path: pathIn(folder, handle.name) }]
  if (!isFolder(handle)) return []
  const picked: Picked[] = []
  for await (const inside of handle.values()) {
    picked.push(...(await filesOfHandle(inside, `${folder}${handle.name}/`)))
  }
  return picked
}

async function filesOfEntry(entry: FileSystemEntry, folder: string): Promise<Picked[]> {
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    return [{ file, handle: null, path: pathIn(folder, entry.name) }]
  }
  if (!isFolderEntry(entry)) return []
  const reader = entry.createReader()
  const picked: Picked[] = []
  for (;;) {
    // It gives a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return picked
    for (const inside of some) picked.push(...(await filesOfEntry(inside, `${folder}${entry.name}/`)))
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
