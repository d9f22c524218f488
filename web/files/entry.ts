/** A folder's identifier, or `root`. */
export type Place = string

export const TOP: Place = 'root'

/** Null for the top level, as uploads have it. */
export function uploadFolder(place: Place): string | null {
  return place === TOP ? null : place
}

export interface FolderEntry {
  readonly kind: 'folder'
  readonly key: Key
  readonly id: Place
  readonly name: string
  /** ISO 8601 UTC. */
  readonly createdAt: string
  /** Directly in it. */
  readonly fileCount: number
  readonly isPublic: boolean
  readonly hasPassword: boolean
  readonly place: Place
}

export interface FileEntry {
  readonly kind: 'file'
  readonly key: Key
  readonly id: number
  readonly uuid: string
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly type: string
  readonly url: string
  /** ISO 8601 UTC. */
  readonly createdAt: string
  readonly downloads: number
  /** Thumbnail, if there is or may be one, else the icon of the type. */
  readonly pictureUrl: string
  /** The server has lost bytes of it. */
  readonly isDamaged: boolean
  readonly place: Place
}

export type Entry = FolderEntry | FileEntry

export type Key = `folder:${string}` | `file:${number}`

export const folderKey = (id: Place): Key => `folder:${id}`
export const fileKey = (id: number): Key => `file:${id}`

export function foldersOf(entries: readonly Entry[]): FolderEntry[] {
  return entries.filter((entry) => entry.kind === 'folder')
}

export function filesOf(entries: readonly Entry[]): FileEntry[] {
  return entries.filter((entry) => entry.kind === 'file')
}
