/** What the callers of a world have been told, and so what must be true in it. */
import type { AccountCaller, Caller } from '../../src/core/callers.ts'
import type {
  BinEntryId,
  FolderIdentifier,
  FolderPlace,
  LinkId,
  Sha256,
  UploadToken,
  Uuid,
} from '../../src/domain/ids.ts'

/** A file, by its name: names are never used for another content. */
export interface ModelFile {
  readonly name: string
  by: Caller
  readonly content: Uint8Array
  readonly sha256: Sha256
  /** Where it may be. */
  places: ReadonlySet<FolderPlace>
  /** Whether it may be there, and whether it may not; both while an answer is out. */
  mayBeThere: boolean
  mayBeGone: boolean
  /** Whether somebody has begun to delete it: then an answer that tells that it came says nothing of what is. */
  isEnding: boolean
  /** Moves under way. */
  moves: number
  uuid: Uuid | null
  /** Accounts that it is, or may have been, given to. */
  readonly to: Set<Caller>
  /** Its entry in the bin. */
  entry: BinEntryId | null
}

export interface ModelFolder {
  readonly id: FolderIdentifier
  readonly by: Caller
  readonly name: string
  /** Where it may hang. */
  parents: ReadonlySet<FolderPlace>
  moves: number
  /** Whether somebody has begun to delete it. */
  isDoomed: boolean
}

/** A resumable upload whose address was told. */
export interface ModelUpload {
  readonly file: ModelFile
  readonly token: UploadToken
  /** Whether it is joined from parts, and takes no bytes. */
  readonly isFinal: boolean
  /** Whether all of it was reserved for an account at the beginning. */
  readonly isReserved: boolean
  /** Every byte before it was acknowledged. */
  told: number
  isBusy: boolean
  isOver: boolean
}

export interface ModelLink {
  readonly id: LinkId
  readonly most: number
  readonly size: number
  /** Of each visitor, what was sent, in shares of the file. */
  readonly sent: Map<string, number>
  /** Downloads whose end nobody knows yet, or ever: their places may be taken. */
  doubted: number
}

export interface ModelUploadLink {
  readonly id: LinkId
  readonly by: AccountCaller
  readonly slug: string
  isRevoked: boolean
  readonly folder: FolderIdentifier
  readonly mostFiles: number
}

/** A request with an Idempotency-Key, which may be sent again. */
export interface KeyedUpload {
  readonly key: string
  readonly file: ModelFile
  /** What it was answered with. */
  uuid: Uuid | null
  isBusy: boolean
}

/** Parts that are whole, and are to be joined. */
export interface JoinedUpload {
  readonly name: string
  readonly by: Caller
  readonly content: Uint8Array
  readonly tokens: readonly UploadToken[]
  /** Null before somebody has asked for it. */
  file: ModelFile | null
  known: ModelUpload | null
  isBusy: boolean
}

export interface BinnedFolder {
  readonly by: AccountCaller
  readonly folder: ModelFolder
  readonly entry: BinEntryId
}

export class Model {
  readonly files = new Map<string, ModelFile>()
  readonly folders = new Map<FolderPlace, ModelFolder>()
  readonly uploads: ModelUpload[] = []
  readonly links: ModelLink[] = []
  readonly uploadLinks: ModelUploadLink[] = []
  readonly keyed: KeyedUpload[] = []
  readonly joined: JoinedUpload[] = []
  readonly binned: BinnedFolder[] = []
  readonly #leaving = new Set<Caller>()
  /** Accounts that were deleted. */
  readonly gone = new Set<Caller>()
  /** Accounts that do nothing more. */
  silent: ReadonlySet<Caller> = new Set()
  readonly #refusals = new Map<Sha256, 'begun' | 'done'>()
  /** Whether files that came by upload links may be back from a bin, above what these take. */
  hasRestored = false
  /** Whether the wall clock has leapt, so that nobody can tell what is a day. */
  hasLeapt = false

  /** The wall clock leaps: a key may be old in the middle of its request, which then stores its file again. */
  leapt(): void {
    this.hasLeapt = true
    for (const { file, isBusy } of this.keyed) {
      if (!isBusy) continue
      this.mayCome(file)
      file.mayBeGone = true
    }
  }

  /** A kill has ended all that was under way. */
  killed(): void {
    // Whether they were deleted, no answer says: nobody signs in to them any more.
    this.silent = new Set(this.#leaving)
    for (const each of [...this.uploads, ...this.keyed, ...this.joined]) each.isBusy = false
  }

  /** A file that is about to come. */
  coming(name: string, by: Caller, content: Uint8Array, place: FolderPlace): ModelFile {
    const file: ModelFile = {
      ...{ name, by, content, places: new Set([place]), moves: 0, uuid: null, to: new Set(), entry: null },
      sha256: Bun.SHA256.hash(content, 'hex') as Sha256,
      mayBeThere: false,
      mayBeGone: true,
      isEnding: false,
    }
    this.files.set(name, file)
    this.mayCome(file)
    return file
  }

  /** It was acknowledged: it is there, unless a folder that it may be in is being deleted. */
  came(file: ModelFile, uuid: Uuid): void {
    file.uuid = uuid
    if (!file.isEnding && !this.mayVanish(file)) file.mayBeGone = false
  }

  mayCome(file: ModelFile): void {
    file.mayBeThere = this.#refusals.get(file.sha256) !== 'done' && !this.gone.has(file.by)
  }

  /** Whether a folder that it may be in is being deleted, or its account, or its content taken down. */
  mayVanish({ places, sha256, by, to }: ModelFile): boolean {
    const isLeaving = this.#leaving.has(by) || [...to].some((each) => this.#leaving.has(each))
    return isLeaving || this.#refusals.has(sha256) || [...places].some((place) => this.isDoomed(place))
  }

  /** Somebody begins to delete it, or puts it into the bin. */
  ending(file: ModelFile): void {
    file.isEnding = true
    file.mayBeGone = true
  }

  refresh(file: ModelFile): void {
    if (this.mayVanish(file)) file.mayBeGone = true
  }

  /** The content is being taken down, in steps that outlive a kill. */
  refusing(sha256: Sha256): void {
    if (!this.#refusals.has(sha256)) this.#refusals.set(sha256, 'begun')
    for (const file of this.files.values()) {
      if (file.sha256 === sha256) Object.assign(file, { mayBeGone: true, entry: null })
    }
  }

  /** It was taken down: no file has it, and none gets it any more. */
  refused(sha256: Sha256): void {
    this.#refusals.set(sha256, 'done')
    for (const file of this.files.values()) if (file.sha256 === sha256) file.mayBeThere = false
  }

  /** The account is being deleted. */
  leaving(account: AccountCaller): void {
    this.#leaving.add(account)
    for (const file of this.files.values()) {
      this.refresh(file)
      if (file.by === account) file.entry = null
    }
  }

  isLeaving(account: Caller): boolean {
    return this.#leaving.has(account)
  }

  /** It was deleted: nothing of it is there, and nothing of it comes. */
  left(account: AccountCaller): void {
    this.gone.add(account)
    this.silent = new Set(this.gone)
    for (const file of this.files.values()) if (file.by === account) file.mayBeThere = false
  }

  isRefused(sha256: Sha256): boolean {
    return this.#refusals.has(sha256)
  }

  isDoomed(place: FolderPlace): boolean {
    return this.#isBelow(place, ({ isDoomed }) => isDoomed)
  }

  /** Whether it may be such a folder, or below one. */
  #isBelow(place: FolderPlace, isSuch: (folder: ModelFolder) => boolean): boolean {
    const seen = new Set<FolderPlace>()
    const look = (at: FolderPlace): boolean => {
      const folder = this.folders.get(at)
      if (folder === undefined || seen.has(at)) return false
      seen.add(at)
      return isSuch(folder) || [...folder.parents].some(look)
    }
    return look(place)
  }

  /** The folder comes back from the bin with all that was in it then. */
  returning(folder: ModelFolder): void {
    for (const file of this.files.values()) {
      if (![...file.places].some((place) => this.#isBelow(place, (each) => each === folder))) continue
      this.mayCome(file)
      file.mayBeGone = true
    }
  }

  /** The delete of a folder has begun: whatever may be in it may go. */
  dooming(folder: ModelFolder): void {
    folder.isDoomed = true
    for (const file of this.files.values()) {
      this.refresh(file)
    }
  }

  /** The delete was acknowledged: what surely is in the folder is gone, and does not come any more. */
  doomed(folder: ModelFolder): void {
    const surely = (place: FolderPlace): boolean => {
      if (place === folder.id) return true
      const at = this.folders.get(place)
      if (at === undefined || at.moves > 0 || at.parents.size !== 1) return false
      return [...at.parents].every(surely)
    }
    for (const file of this.files.values()) {
      const isInside = file.moves === 0 && file.entry === null && [...file.places].every(surely)
      if (isInside) file.mayBeThere = false
    }
  }

  /** Files that may be there, of one caller. */
  filesOf(by: Caller): ModelFile[] {
    return [...this.files.values()].filter((file) => file.by === by && file.mayBeThere && file.uuid !== null)
  }

  foldersOf(by: Caller): ModelFolder[] {
    return [...this.folders.values()].filter((folder) => folder.by === by && !folder.isDoomed)
  }
}
