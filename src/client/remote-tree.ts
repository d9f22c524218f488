import { isFolderCalled } from '../domain/folder-name.ts'
import type { FileItem, FolderItem } from './answers.ts'
import type { Api, FolderName } from './api.ts'
import { ClientError, isAnswer } from './failure.ts'

export type RemoteEntry =
  | { readonly kind: 'root' }
  | { readonly kind: 'folder'; readonly folder: FolderItem }
  | { readonly kind: 'file'; readonly identifier: string; readonly name: string }

export class RemoteTree {
  readonly #api: Api
  readonly #known = new Map<FolderName, Promise<FolderItem[]>>()
  readonly #ensured = new Map<string, Promise<FolderName>>()

  constructor(api: Api) {
    this.#api = api
  }

  /** Throws ClientError for a missing entry, or when several files have the name. */
  async find(name: RemoteName): Promise<RemoteEntry> {
    const thing = await this.look(name)
    if (thing !== null) return thing
    throw new ClientError(`there is no ${describe(name)} on ${this.#api.server.url} among what is yours.`)
  }

  async look(name: RemoteName): Promise<RemoteEntry | null> {
    switch (name.kind) {
      case 'file':
        try {
          const file = await this.#api.file(name.identifier)
          return { kind: 'file', identifier: file.uuid, name: file.name }
        } catch (error) {
          if (isAnswer(error, 404, 'FILE_NOT_FOUND')) return null
          throw error
        }
      case 'folder': {
        const folder = (await this.#api.folders()).find(({ id }) => id === name.identifier)
        return folder === undefined ? null : { kind: 'folder', folder }
      }
      case 'path': {
        const walked = await this.#walk(name.names)
        if (walked === null) return this.#fileAt(name.names)
        return walked.folder === null ? { kind: 'root' } : { kind: 'folder', folder: walked.folder }
      }
    }
  }

  async folder(name: RemoteName): Promise<FolderName> {
    const thing = await this.find(name)
    if (thing.kind === 'file') throw new ClientError(`${describe(name)} is not a folder.`)
    return thing.kind === 'root' ? 'root' : thing.folder.id
  }

  /** Creates missing folders; concurrent calls create each once. */
  async ensure(parent: FolderName, names: readonly string[]): Promise<FolderName> {
    let at = parent
    for (const name of names) {
      const key = `${at}/${name}`
      const inside = this.#ensured.get(key) ?? this.#make(at, name)
      this.#ensured.set(key, inside)
      at = await inside
    }
    return at
  }

  #subfolders(parent: FolderName): Promise<FolderItem[]> {
    const asked = this.#known.get(parent) ?? this.#api.subfolders(parent)
    this.#known.set(parent, asked)
    return asked
  }

  async #child(parent: FolderName, name: string): Promise<FolderItem | null> {
    const folders = await this.#subfolders(parent)
    return folders.find((folder) => isFolderCalled(folder.name, name)) ?? null
  }

  async #walk(names: readonly string[]): Promise<{ readonly folder: FolderItem | null } | null> {
    let folder: FolderItem | null = null
    for (const name of names) {
      folder = await this.#child(folder?.id ?? 'root', name)
      if (folder === null) return null
    }
    return { folder }
  }

  async #fileAt(names: readonly string[]): Promise<RemoteEntry | null> {
    const name = names.at(-1)?.normalize('NFC')
    const place = await this.#walk(names.slice(0, -1))
    if (name === undefined || place === null) return null
    const found: FileItem[] = []
    for await (const file of this.#api.files({ folder: place.folder?.id ?? 'root', search: name })) {
      if (file.name === name) found.push(file)
    }
    const [file, another] = found
    if (file === undefined) return null
    if (another !== undefined) {
      const links = found.map(({ url }) => `\n  ${url}`).join('')
      throw new ClientError(`several files are called /${names.join('/')}; name one by its link:${links}`)
    }
    return { kind: 'file', identifier: file.uuid, name: file.name }
  }

  async #make(parent: FolderName, name: string): Promise<FolderName> {
    const there = await this.#child(parent, name)
    if (there !== null) return there.id
    try {
      return await this.#api.createFolder(name, parent)
    } catch (error) {
      if (!isAnswer(error, 409, 'DUPLICATE_NAME')) throw error
      // Somebody else was quicker.
      const folders = await this.#api.subfolders(parent)
      const same = folders.find((folder) => isFolderCalled(folder.name, name))
      if (same === undefined) throw error
      return same.id
    }
  }
}

function describe(name: RemoteName): string {
  return name.kind === 'path' ? `/${name.names.join('/')}` : `${name.kind} ${name.identifier}`
}

export type RemoteName =
  /** From the top level down; empty for the top level itself. */
  | { readonly kind: 'path'; readonly names: readonly string[] }
  | { readonly kind: 'folder'; readonly identifier: string }
  | { readonly kind: 'file'; readonly identifier: string }

const FOLDER = /^[a-z][a-z0-9]{15}$/
const FILE = /^([A-Za-z][A-Za-z0-9]{11}|\d{1,15}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/** Throws ClientError for anything but a path, an identifier, a slug, a UUID, a number or a link. */
export function parseRemoteName(text: string): RemoteName {
  if (text === 'root') return { kind: 'path', names: [] }
  if (text.startsWith('/')) {
    const names = text.split('/').filter((name) => name !== '')
    return { kind: 'path', names }
  }
  const [, page, linked] = /^https?:\/\/[^/]+\/([df])\/([A-Za-z0-9]+)\/?$/.exec(text) ?? []
  if (page !== undefined && linked !== undefined) {
    return { kind: page === 'd' ? 'file' : 'folder', identifier: linked }
  }
  if (FOLDER.test(text)) return { kind: 'folder', identifier: text }
  if (FILE.test(text)) return { kind: 'file', identifier: text }
  throw new ClientError(
    `"${text}" is no name for a file or folder; use a path such as /photos/2026, a link, a slug, or an identifier.`,
  )
}

/** Throws ClientError for anything but a slug or a link's address. */
export function parseLinkName(text: string): string {
  const [, slug] = /^(?:https?:\/\/[^/]+\/l\/)?([a-z0-9-]{3,64})\/?$/.exec(text) ?? []
  if (slug !== undefined) return slug
  throw new ClientError(`"${text}" is no shared link; use its address, or the end of it.`)
}
