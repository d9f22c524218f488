import { changeTotals } from '../../core/accounts.rows.ts'
import { noteChange } from '../../core/changes.rows.ts'
import { hashPassword } from '../../core/password-hash.ts'
import type { Database, Trx } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Actor, assertMayWiden, mayWiden, opensFolder, type Reach } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFolderName } from '../../domain/folder-name.ts'
import type { FolderIdentifier, FolderPlace } from '../../domain/ids.ts'
import { makeFolderIdentifier, type Random } from '../../domain/random.ts'
import { insertFolder, updateFolder } from './folder-changes.rows.ts'
import { type FolderMove, moveFolder, refusingDuplicates, tooDeep } from './folder-moving.ts'
import { changeTree, type FolderListRow, findFolder, folderChain } from './folders.rows.ts'
import { folderNotFound, ownFolder, resolvePlace, withinReach } from './places.ts'

export interface NewFolder {
  readonly name: string
  readonly parent: FolderPlace
  readonly isPublic: boolean
  readonly password: string | null
}

export interface WantedFolderChange {
  readonly name?: string
  readonly parent?: FolderPlace
  readonly isPublic?: boolean
  /** Null removes the password. */
  readonly password?: string | null
}

export interface FolderChanges {
  /** Throws Refusal INVALID_NAME, FOLDER_NOT_FOUND, DUPLICATE_NAME or MAX_DEPTH_EXCEEDED. */
  create(reach: Reach, folder: NewFolder): Promise<FolderListRow>
  /** Atomic. Throws Refusal as `create`, INVALID_DESTINATION, SCOPE_MISSING, INVALID_REQUEST to rename the reach. */
  change(reach: Actor, identifier: FolderIdentifier, change: WantedFolderChange): Promise<FolderListRow>
}

interface FolderParts {
  readonly db: Database
  readonly clock: Clock
  readonly random: Random
  readonly maxDepth: number
}

export function createFolderChanges(parts: FolderParts): FolderChanges {
  const { db, clock, random, maxDepth } = parts
  return {
    async create(reach, folder) {
      const name = parseFolderName(folder.name)
      // Before the password is hashed, which costs far more.
      await resolvePlace(db, reach, folder.parent)
      const password_hash = folder.password === null ? null : await hashPassword(folder.password)
      const identifier = makeFolderIdentifier(random)
      const row = { identifier, name, is_public: folder.isPublic ? 1 : 0, password_hash } as const
      await refusingDuplicates(name, () =>
        inTransaction(db, (trx) => insert(trx, parts, reach, folder.parent, row)),
      )
      return read(db, reach, identifier)
    },

    async change(reach, identifier, change) {
      const wanted = change.name === undefined ? null : parseFolderName(change.name)
      const before = await ownFolder(db, reach, identifier)
      const name = wanted ?? before.name
      const isTop = identifier === reach.within
      if (isTop && name !== before.name) {
        throw new Refusal('INVALID_REQUEST', 'This key is limited to this folder and cannot rename it')
      }
      const columns = { ...(wanted === null ? {} : { name }), ...(await accessColumns(change)) }
      // A key confined to the folder reads its parent as `root`, and may send that back without moving it.
      const parent = isTop && change.parent === 'root' ? undefined : change.parent
      await refusingDuplicates(name, () =>
        inTransaction(db, (trx) =>
          update(trx, reach, { folder: identifier, parent, maxDepth, now: clock.now(), change: columns }),
        ),
      )
      return read(db, reach, identifier)
    },
  }
}

type NewRow = Pick<Parameters<typeof insertFolder>[1], 'identifier' | 'name' | 'is_public' | 'password_hash'>

async function insert(
  trx: Trx,
  { clock, maxDepth }: FolderParts,
  reach: Reach,
  place: FolderPlace,
  row: NewRow,
): Promise<void> {
  const account_id = reach.account
  await lockAccount(trx, account_id)
  const parent_id = await resolvePlace(trx, reach, place)
  const chain = await folderChain(trx, parent_id)
  // The top level is deleted with its account, and cleared once.
  if (chain.some((step) => step.deleted_at !== null)) throw folderNotFound()
  if (chain.length + 1 > maxDepth) throw tooDeep(maxDepth)
  await insertFolder(trx, { ...row, account_id, parent_id, created_at: clock.now() })
  await changeTree(trx, parent_id, { folders: 1, height: 1 })
  await changeTotals(trx, account_id, { folders: 1 })
  await noteChange(trx, account_id, { kind: 'folder.added', folder: row.identifier, place: parent_id })
}

async function accessColumns({ isPublic, password }: WantedFolderChange) {
  const password_hash = typeof password === 'string' ? await hashPassword(password) : password
  return {
    ...(isPublic === undefined ? {} : { is_public: isPublic ? (1 as const) : (0 as const) }),
    ...(password_hash === undefined ? {} : { password_hash }),
  }
}

type FolderUpdate = Omit<FolderMove, 'parent'> & { readonly parent: FolderPlace | undefined }

/** A move alone is no other change of the folder. */
async function update(trx: Trx, reach: Actor, { parent, ...update }: FolderUpdate): Promise<void> {
  await lockAccount(trx, reach.account)
  if (!mayWiden(reach)) await assertOpensNothing(trx, reach, update)
  const moved = parent === undefined ? 0 : await moveFolder(trx, reach, { ...update, parent })
  if (moved > 0 && Object.keys(update.change).length === 0) return
  const { id, parent_id: place } = await ownFolder(trx, reach, update.folder)
  await updateFolder(trx, id, update.change)
  await noteChange(trx, reach.account, { kind: 'folder.changed', folder: update.folder, place })
}

/** Throws Refusal SCOPE_MISSING. */
async function assertOpensNothing(
  trx: Trx,
  reach: Actor,
  { folder, change: { is_public, password_hash } }: Pick<FolderMove, 'folder' | 'change'>,
): Promise<void> {
  const before = await ownFolder(trx, reach, folder)
  const opens = opensFolder(
    { isPublic: before.is_public === 1, hasPassword: before.password_hash !== null },
    { isPublic: is_public === undefined ? undefined : is_public === 1, password: password_hash },
  )
  if (opens) assertMayWiden(reach)
}

async function read(db: Database, reach: Reach, identifier: FolderIdentifier): Promise<FolderListRow> {
  const row = await findFolder(db, identifier)
  if (row === undefined) throw new Refusal('FOLDER_NOT_FOUND', 'The folder was deleted in the meantime')
  return withinReach(reach, row)
}
