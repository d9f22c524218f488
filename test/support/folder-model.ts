import type { ErrorCode } from '../../src/domain/errors.ts'

/** A folder of the model; `parent` is an identifier or `root`. */
interface ModelFolder {
  name: string
  parent: string
}

interface ModelFile {
  readonly size: number
  folder: string
}

/** What a change came to: refused with one of these codes, or done. */
export type Verdict<T> = { readonly refused: readonly ErrorCode[] } | { readonly done: T }

/**
 * One account's folders and files, kept in memory the plainest way there is: every question is answered by walking
 * everything. Changes that are refused change nothing. Where two reasons to refuse hold at once, both are allowed.
 */
export interface FolderModel {
  /** In the order they were made. */
  readonly folders: ReadonlyMap<string, ModelFolder>
  /** By slug, in the order they were made. */
  readonly files: ReadonlyMap<string, ModelFile>
  /** Why a folder of this name cannot be made there; empty when it can. */
  createRefusals(name: string, parent: string): ErrorCode[]
  addFolder(identifier: string, name: string, parent: string): void
  renameFolder(identifier: string, name: string): Verdict<null>
  /** `done` is how many folders changed place, those below included. */
  moveFolder(identifier: string, parent: string): Verdict<number>
  /** Removes the folder, all below and all files in them; null when there is no such folder. */
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

  /** From the place up to the top level, which is not in it. */
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
