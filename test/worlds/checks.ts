/** What must be true of a world at every moment, and what must be once nothing is under way. */
import { Database as SqliteFile } from 'bun:sqlite'
import type { FolderPlace } from '../../src/domain/ids.ts'
import type { MemoryStore, StoredEntry } from './memory-store.ts'
import type { Model, ModelFile } from './model.ts'
import { CONFIG, LIMITS } from './services.ts'

interface SeenFile {
  readonly name: string
  readonly uuid: string
  readonly size: number
  readonly sha256: string
  readonly folder: string
}

/** Files as everybody sees them: those whose folders are all there. */
const SEEN = `
  with recursive live(id, identifier) as (
    select id, 'root' from folders where parent_id is null and deleted_at is null
    union all
    select folders.id, folders.identifier from folders join live on folders.parent_id = live.id
    where folders.deleted_at is null
  )
  select files.name, files.uuid, files.size, blobs.sha256, live.identifier as folder
  from files join live on live.id = files.folder_id join blobs on blobs.id = files.blob_id
  where files.removed_at is null`

const LIVE_FOLDERS = `
  with recursive live(row, id, parent) as (
    select id, 'root', 'root' from folders where parent_id is null and deleted_at is null
    union all
    select folders.id, folders.identifier, live.id from folders join live on folders.parent_id = live.row
    where folders.deleted_at is null
  )
  select id, parent from live`

const COMING = 'select name from uploads where ended_at is null'

const RESERVED = `
  select username, storage_used as used, storage_reserved as reserved,
    (select coalesce(sum(bytes), 0) from reservations where account_id = accounts.id)
    + (select coalesce(sum(reserved), 0) from uploads where account_id = accounts.id) as promised
  from accounts`

const CONTENTS = `
  select key, size, sha256, refs, (select count(*) from files where blob_id = blobs.id) as files,
    exists (select 1 from blob_garbage where blob_garbage.key = blobs.key) as is_garbage
  from blobs`

const HOLDING = `
  select id, downloads + (
    select count(*) from link_slots where link_id = links.id and (running > 0 or sent * 2 >= 1000000)
  ) as taken from links where max_downloads is not null`

const CONTRIBUTED = `
  select link_id as id, count(*) as taken from contributions where exists (
    select 1 from files where uuid = contributions.file_uuid and removed_at is null
  ) or exists (select 1 from reservations where key = contributions.reservation)
  or exists (select 1 from uploads where uuid = contributions.file_uuid and ended_at is null)
  group by link_id`

/** A look at a life from outside, past all faults. */
export class Checks {
  readonly #file: SqliteFile
  readonly #store: MemoryStore
  readonly #model: Model
  #seen = ''

  constructor(path: string, store: MemoryStore, model: Model) {
    this.#file = new SqliteFile(path)
    this.#store = store
    this.#model = model
  }

  /** Whether anything was committed, or is in the store, since the last call. */
  hasChanged(): boolean {
    const [row] = this.#rows<{ data_version: number }>('PRAGMA data_version')
    const seen = `${row?.data_version} ${this.#store.version}`
    const isOther = seen !== this.#seen
    this.#seen = seen
    return isOther
  }

  /** What is wrong at any moment, also in the middle of everything. */
  wrong(): string[] {
    return [...this.#contents(), ...this.#room(), ...this.#links(), ...this.#files()]
  }

  /** Files and folders are what they are after a kill: from here on nothing about them is in doubt. */
  settle(): void {
    const { files, folders } = this.#model
    const live = new Map(
      this.#rows<{ id: string; parent: string }>(LIVE_FOLDERS).map(({ id, parent }) => [id, parent]),
    )
    for (const folder of folders.values()) {
      const parent = live.get(folder.id)
      folder.moves = 0
      folder.isDoomed = parent === undefined
      if (parent !== undefined) folder.parents = new Set([parent as FolderPlace])
    }
    const seen = new Map(this.#rows<SeenFile>(SEEN).map((file) => [file.name, file]))
    const coming = new Set(this.#rows<{ name: string }>(COMING).map(({ name }) => name))
    const isReturning = this.#rows('select id from bin where restoring = 1').length > 0
    for (const file of files.values()) {
      const row = seen.get(file.name)
      file.moves = 0
      if (row === undefined) file.mayBeThere &&= isReturning || coming.has(file.name)
      else
        Object.assign(file, {
          mayBeGone: this.#model.mayVanish(file),
          entry: null,
          places: new Set([row.folder]),
          uuid: row.uuid,
        })
    }
  }

  /** What is wrong besides when nothing is under way and every job has run. */
  *leftOver(now: number, hasOpenUploads: boolean): Generator<string> {
    for (const { key } of this.#rows<{ key: string }>('select key from reservations'))
      yield `reservation ${key} is left`
    // After a leap of the clock some is due later.
    const garbage = this.#rows<{ key: string; due_at: number }>('select key, due_at from blob_garbage')
    for (const { key, due_at } of garbage) if (due_at <= now) yield `garbage ${key} is left`
    const held = 'select slug from uploads where node in (select id from nodes)'
    for (const { slug } of this.#rows<{ slug: string }>(held)) yield `the lease of upload ${slug} is left`
    const uploads = this.openUploads()
    if (!hasOpenUploads && uploads.length > 0) yield `uploads are left: ${uploads}`
    const known = new Set([
      ...uploads,
      ...garbage.map(({ key }) => key),
      ...this.#rows<{ key: string }>('select key from blobs').map(({ key }) => key),
    ])
    for (const key of this.#store.entries.keys())
      if (!known.has(key)) yield `${key} is in the store, and nobody knows it`
    for (const { id, doubted, sent } of this.#model.links) {
      const [row] = this.#rows<{ taken: number }>(`select taken from (${HOLDING}) where id = ${id}`)
      const got = [...sent.values()].filter((share) => share >= 0.5).length
      if (doubted === 0 && !this.#model.hasLeapt && row !== undefined && row.taken !== got)
        yield `link ${id}: ${row.taken} places are taken, ${got} were used`
    }
  }

  /** Keys of uploads that have not ended. */
  openUploads(): string[] {
    const rows = this.#rows<{ key: string }>('select key from uploads where ended_at is null')
    return rows.map(({ key }) => key)
  }

  /** Entries of bins that are files'. */
  binned(): number[] {
    return this.#rows<{ id: number }>('select id from bin where file_id is not null').map(({ id }) => id)
  }

  /** Accounts that were deleted and have rows still. */
  leavingAccounts(): string[] {
    const left = 'select username from accounts where removed_at is not null'
    return this.#rows<{ username: string }>(left).map(({ username }) => username)
  }

  visibleFiles(): string[] {
    return this.#rows<SeenFile>(SEEN).map(({ name }) => name)
  }

  close(): void {
    this.#file.close()
  }

  #rows<Row>(text: string): Row[] {
    return this.#file.query<Row, []>(text).all()
  }

  *#contents(): Generator<string> {
    const contents = this.#rows<{
      key: string
      size: number
      sha256: string
      refs: number
      files: number
      is_garbage: number
    }>(CONTENTS)
    const stored = new Map<string, StoredEntry>(this.#store.entries)
    for (const { key, size, sha256, refs, files, is_garbage } of contents) {
      const entry = stored.get(key)
      if (refs !== files) yield `content ${key}: ${refs} references are counted, ${files} files refer to it`
      if (is_garbage === 1) yield `content ${key} is a file's and garbage`
      if (entry?.place !== 'finished') yield `content ${key} has no bytes`
      else if (entry.bytes.length !== size || Bun.SHA256.hash(entry.bytes, 'hex') !== sha256)
        yield `content ${key} has other bytes`
    }
  }

  *#room(): Generator<string> {
    type Row = { username: string; used: number; reserved: number; promised: number }
    for (const { username, used, reserved, promised } of this.#rows<Row>(RESERVED)) {
      if (reserved !== promised) yield `${username}: ${reserved} bytes are reserved, uploads have ${promised}`
      const limit = username === '*guests*' ? LIMITS.guestStorage : CONFIG.storageLimit
      if (used + reserved > limit) yield `${username}: ${used} bytes and ${reserved} reserved, of ${limit}`
    }
  }

  *#links(): Generator<string> {
    const taken = new Map(
      this.#rows<{ id: number; taken: number }>(HOLDING).map((row) => [row.id, row.taken]),
    )
    for (const { id, most, sent } of this.#model.links) {
      const got = [...sent.values()].filter((share) => share >= 0.5).length
      if (!this.#model.hasLeapt && got > most)
        yield `link ${id} was good for ${most} downloads and gave ${got}`
      if ((taken.get(id) ?? 0) > most) yield `link ${id}: ${taken.get(id)} of ${most} places are taken`
    }
    if (this.#model.hasRestored) return
    const came = new Map(
      this.#rows<{ id: number; taken: number }>(CONTRIBUTED).map((row) => [row.id, row.taken]),
    )
    for (const { id, mostFiles } of this.#model.uploadLinks) {
      if ((came.get(id) ?? 0) > mostFiles) yield `link ${id} takes ${mostFiles} files and has ${came.get(id)}`
    }
  }

  *#files(): Generator<string> {
    const seen = new Set<string>()
    for (const { name, uuid, size, sha256, folder } of this.#rows<SeenFile>(SEEN)) {
      const file = this.#model.files.get(name)
      if (seen.has(name) && !(this.#model.hasLeapt && name.startsWith('keyed')))
        yield `${name} is there twice`
      seen.add(name)
      if (file === undefined) yield `${name} is there, and nobody has sent it`
      else yield* wrongWith(file, { uuid, size, sha256, folder })
    }
    const binned = new Set(this.binned())
    for (const { name, mayBeGone, entry } of this.#model.files.values()) {
      if (!mayBeGone && !seen.has(name)) yield `${name} was acknowledged and is gone`
      if (entry !== null && !binned.has(entry)) yield `${name} was put into the bin and is gone`
    }
  }
}

function* wrongWith(
  file: ModelFile,
  { uuid, size, sha256, folder }: Omit<SeenFile, 'name'>,
): Generator<string> {
  const { name, places, content } = file
  if (!file.mayBeThere) yield `${name} is there and should not be`
  if (size !== content.length || sha256 !== file.sha256) yield `${name} is another content`
  if (!new Set<string>(places).has(folder))
    yield `${name} is in ${folder}, not in ${[...places].join(' or ')}`
  if (file.uuid !== null && file.uuid !== uuid && !name.startsWith('keyed')) yield `${name} has another UUID`
}
