import type { ErrorCode } from '../../../src/domain/errors.ts'

/** Folder in the model; `parent` is an identifier or `root`. */
interface ModelFolder {
  name: string
  parent: string
}

interface ModelFile {
  readonly size: number
  folder: string
}

/** Result of a change: refused with one of these codes, or done. */
export type Verdict<T> = { readonly refused: readonly ErrorCode[] } | { readonly done: T }

/**
 * Reference model of one account's folders and files: every query is answered by a full traversal. Refused
 * changes have no effect. Where two reasons to refuse hold at once, both are allowed.
 */
export interface FolderModel {
  /** In order of creation. */
  readonly folders: ReadonlyMap<string, ModelFolder>
  /** By slug, in order of creation. */
  readonly files: ReadonlyMap<string, ModelFile>
  /** Reasons why a folder of this name cannot be created there; empty if it can. */
  createRefusals(name: string, parent: string): ErrorCode[]
  addFolder(identifier: string, name: string, parent: string): void
  renameFolder(identifier: string, name: string): Verdict<null>
  /** `done`: number of moved folders, including descendants. */
  moveFolder(identifier: string, parent: string): Verdict<number>
  /** Removes the folder, its descendants and their files; null when it does not exist. */
  deleteFolder(identifier: string): { readonly folders: string[]; readonly files: number } | null
  addFile(slug: string, size: number, folder: string): void
  moveFile(slug: string, folder: string): Verdict<null>
  deleteFile(slug: string): boolean
  isPlace(place: string): boolean
}

export function folderModel(maxDepth: number): FolderModel {
  const folders = new Map<string, ModelFolder>()
  const files = new Map<string, ModelFile>()

  const isPlace = (place: string) => place === 'root' || folders.has(place)

  /** The chain from the folder up to the top level, which is not included. */
  const wayUp = (place: string): string[] => {
    const parent = folders.get(place)?.parent
    return parent === undefined ? [] : [place, ...wayUp(parent)]
  }
  const below = (identifier: string) =>
    [...folders.keys()].filter((other) => wayUp(other).includes(identifier))
  const isTaken = (name: string, parent: string, except?: string) =>
    [...folders].some(([id, folder]) => id !== except && folder.parent === parent && folder.name === name)

  return {
    folders,
    files,
    isPlace,

    createRefusals(name, parent) {
      if (!isPlace(parent)) return ['FOLDER_NOT_FOUND']
      const refusals: ErrorCode[] = []
      if (isTaken(name, parent)) refusals.push('DUPLICATE_NAME')
      if (wayUp(parent).length + 1 > maxDepth) refusals.push('MAX_DEPTH_EXCEEDED')
      return refusals
    },

    addFolder(identifier, name, parent) {
      folders.set(identifier, { name, parent })
    },

    renameFolder(identifier, name) {
      const folder = folders.get(identifier)
      if (folder === undefined) return { refused: ['FOLDER_NOT_FOUND'] }
      if (isTaken(name, folder.parent, identifier)) return { refused: ['DUPLICATE_NAME'] }
      folder.name = name
      return { done: null }
    },

    moveFolder(identifier, parent) {
      const folder = folders.get(identifier)
      if (folder === undefined || !isPlace(parent)) return { refused: ['FOLDER_NOT_FOUND'] }
      if (folder.parent === parent) return { done: 0 }
      if (wayUp(parent).includes(identifier)) return { refused: ['INVALID_DESTINATION'] }
      const refused: ErrorCode[] = []
      const moved = below(identifier)
      const height = Math.max(...moved.map((id) => wayUp(id).length)) - wayUp(identifier).length + 1
      if (isTaken(folder.name, parent)) refused.push('DUPLICATE_NAME')
      if (wayUp(parent).length + height > maxDepth) refused.push('MAX_DEPTH_EXCEEDED')
      if (refused.length > 0) return { refused }
      folder.parent = parent
      return { done: moved.length }
    },

    deleteFolder(identifier) {
      if (!folders.has(identifier)) return null
      const gone = below(identifier)
      const inside = [...files].filter(([, file]) => gone.includes(file.folder))
      for (const [slug] of inside) files.delete(slug)
      for (const id of gone) folders.delete(id)
      return { folders: gone, files: inside.length }
    },

    addFile(slug, size, folder) {
      files.set(slug, { size, folder })
    },

    moveFile(slug, folder) {
      const file = files.get(slug)
      const refused: ErrorCode[] = []
      if (file === undefined) refused.push('FILE_NOT_FOUND')
      if (!isPlace(folder)) refused.push('FOLDER_NOT_FOUND')
      if (file === undefined || refused.length > 0) return { refused }
      file.folder = folder
      return { done: null }
    },

    deleteFile: (slug) => files.delete(slug),
  }
}
