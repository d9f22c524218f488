import { changeTotals, topFolder } from '../core/accounts.rows.ts'
import { type AccountCaller, type Caller, ownerOf } from '../core/callers.ts'
import { noteChange } from '../core/changes.rows.ts'
import type { Core } from '../core/core.ts'
import { countTry } from '../core/rate-limits/attempts.ts'
import { fitsStorage } from '../core/reservations.rows.ts'
import type { Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { DAY, HOUR, MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { type FolderId, type FolderIdentifier, GUESTS, type LinkId, type LinkSlug } from '../domain/ids.ts'
import { slugSkeleton } from '../domain/link-slug.ts'
import { Network, networksOf } from '../domain/networks.ts'
import { makeFolderIdentifier, makeLinkSlug } from '../domain/random.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import { changeTree, findFolder, folderById, freeName, takenAway } from '../files/folders/folders.rows.ts'
import { addFolder, countClosing } from '../files/folders/folders.ts'
import { folderNotFound } from '../files/folders/places.ts'
import { removeTree } from '../files/removals.ts'
import {
  countEmptyTransfers,
  emptyTransfersByAddress,
  emptyTransfersOf,
  filesOfTransfer,
  insertTransfer,
  isEmptyTransfer,
  isUnderWay,
  notEmptyYet,
  noteTransferUse,
  type TransferRow,
  transferOf,
  transfersToLookAt,
  updateTransfer,
} from '../files/transfers.rows.ts'
import { type AdmitGuest, createGuestAdmission, guestAddress } from '../uploads/guest-admission.ts'
import { checkedKey, createIdempotency, type FirstRequest } from '../uploads/idempotency.ts'
import { notFound } from '../uploads/receipts.ts'
import { limitOf, storageFull } from '../uploads/reservations.ts'
import { abandonUpload } from '../uploads/resumable/concatenation.ts'
import { giveTransferRows, openUploadsOfTransfer, revokeLinkOf } from '../uploads/transfer-claims.rows.ts'
import { columnsOf, hashOf, type LinkTerms, LONGEST_SENDER, textOf } from './links/link-terms.ts'
import { countLiveLinks, insertLink, linkById } from './links/links.rows.ts'
import { MOST_LINKS, NEW_LINKS, TOO_MANY_TODAY, tooMany, transferFolderName } from './links/links.ts'

export interface WantedTransfer extends Omit<LinkTerms, 'uploads' | 'transfer'> {
  readonly sender?: string | null
  /** Announced; null for unknown. */
  readonly files?: number | null
  readonly bytes?: number | null
}

export interface MadeTransfer {
  readonly id: FolderId
  readonly folder: FolderIdentifier
  readonly slug: LinkSlug
}

/** For idempotency keys. */
const ROUTE = 'transfers'
/** Guests' transfers into which nothing has come, in total and of one address: each is a few rows. */
export const MOST_EMPTY_TRANSFERS = 10_000
export const MOST_EMPTY_TRANSFERS_OF_ADDRESS = 100
/** Without a byte. */
export const EMPTY_TRANSFER_LASTS = HOUR
/** Younger ones end only for a network that holds fewer. */
const IDLE_AFTER = MINUTE
const LOOKED_AT = 100
const STEP = 100
/** Seconds. */
const EMPTY_RETRY = 600
const ARRIVING_RETRY = 10

/** Makes transfers, gives those of guests to accounts, and ends them. */
export function createTransfers(
  core: Pick<Core, 'db' | 'clock' | 'random' | 'rates' | 'signing' | 'config' | 'nodes' | 'failed'>,
) {
  const { db, clock, random, rates, signing, config } = core
  const admitGuest: AdmitGuest = createGuestAdmission(rates, config)
  const idempotency = createIdempotency({ ...core, report: core.failed('a key could not be given back') })

  async function admit(caller: Caller): Promise<void> {
    if (caller.kind === 'guest') return admitGuest(caller.bucket, false)
    if (caller.within !== null) {
      throw new Refusal(
        'SCOPE_MISSING',
        'A key for one folder makes no transfers; use one for the whole account',
      )
    }
    const windows = [{ subject: `new-links:${caller.account}`, limit: NEW_LINKS, length: DAY }]
    await countTry(rates, windows, TOO_MANY_TODAY)
  }

  async function make(
    caller: Caller,
    wanted: WantedTransfer,
    first: { readonly request: string; readonly key: FirstRequest } | null,
  ): Promise<MadeTransfer> {
    const account = ownerOf(caller)
    const isGuests = account === GUESTS
    const now = clock.now()
    const columns = {
      name: null,
      message: null,
      ends_at: null,
      max_downloads: null,
      ...columnsOf(wanted, now),
    }
    const sender = textOf('sender', wanted.sender ?? null, LONGEST_SENDER)
    const password_hash = (await hashOf(wanted.password)) ?? null
    const hasTerms = password_hash !== null || columns.ends_at !== null || columns.max_downloads !== null
    const identifier = makeFolderIdentifier(random)
    const slug = makeLinkSlug(random)
    const name = transferFolderName(columns.name)
    const id = await inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      if (caller.kind === 'guest') await makeRoom(trx, caller.bucket, now)
      else if ((await countLiveLinks(trx, account, now)) >= MOST_LINKS) throw tooMany()
      const parent_id = await topFolder(trx, account)
      const folder = await addFolder(trx, {
        identifier,
        account_id: account,
        parent_id,
        name: isGuests ? name : await freeName(trx, parent_id, name),
        is_public: hasTerms ? 0 : 1,
        password_hash: null,
        created_at: now,
        is_transfer: 1,
        ...(isGuests ? { unique_name: null } : {}),
      })
      const link_id = await insertLink(
        trx,
        {
          account_id: account,
          slug,
          slug_look: slugSkeleton(slug),
          ...columns,
          password_hash,
          created_at: now,
        },
        { targets: { files: new Set(), folders: new Set([folder]) } },
      )
      await insertTransfer(trx, {
        folder_id: folder,
        link_id,
        sender,
        announced_files: wanted.files ?? null,
        announced_bytes: wanted.bytes ?? null,
        opens_again: hasTerms ? 1 : 0,
        created_at: now,
        last_used_at: now,
        look_at: now + EMPTY_TRANSFER_LASTS,
        ...originOf(caller),
      })
      await first?.key.store(trx, { transfer: folder, request: first.request })
      return folder
    })
    return { id, folder: identifier, slug }
  }

  function originOf(caller: Caller): Pick<TransferRow, 'network' | 'subnet' | 'address'> {
    if (caller.kind !== 'guest') return { network: null, subnet: null, address: null }
    const names = networksOf(caller.bucket).map((name) => guestAddress(signing, name))
    const [network = null] = names
    return { network, subnet: names.length > 2 ? (names[1] ?? null) : null, address: names.at(-1) ?? null }
  }

  /** At the ceiling the oldest one without an upload ends, in the network that holds most. Throws RATE_LIMITED. */
  async function makeRoom(trx: Trx, bucket: string, now: number): Promise<void> {
    const origin = originOf({ kind: 'guest', bucket })
    const ofAddress = MOST_EMPTY_TRANSFERS_OF_ADDRESS
    if ((await countEmptyTransfers(trx, origin.address, ofAddress)) >= ofAddress) throw tooManyEmpty()
    if ((await countEmptyTransfers(trx, null, MOST_EMPTY_TRANSFERS)) < MOST_EMPTY_TRANSFERS) return
    const all = new Network()
    for (const held of await emptyTransfersByAddress(trx)) all.add(pathOf(held), held.count, 0)
    const { addresses, anyway } = all.whoYields(pathOf(origin), 1, 'holders')
    const names = addresses.flatMap((each) => each.path.at(-1) ?? []).slice(0, LOOKED_AT)
    for (const transfer of await emptyTransfersOf(trx, names, LOOKED_AT)) {
      if (transfer.created_at > (anyway ? now : now - IDLE_AFTER)) continue
      if (await isUnderWay(trx, transfer.folder_id)) continue
      return remove(trx, transfer, now)
    }
    throw tooManyEmpty()
  }

  /** Call under the account's lock. */
  async function remove(trx: Trx, { folder_id, link_id }: TransferRow, now: number): Promise<void> {
    const folder = await folderById(trx, folder_id)
    await removeTree(trx, folder.account_id, folder, now)
    await revokeLinkOf(trx, link_id, now)
  }

  /** Of a transfer that is gone, whose reservations it gives back. */
  async function endUploads(folder: FolderId): Promise<void> {
    for (;;) {
      const open = await openUploadsOfTransfer(db, folder, STEP)
      if (open.length === 0) return
      for (const upload of open) await abandonUpload(db, upload, 'NOT_FOUND', clock.now())
    }
  }

  async function endIfEmpty({ folder_id }: TransferRow): Promise<void> {
    const folder = await findFolder(db, folder_id)
    if (folder === undefined) return inTransaction(db, (trx) => notEmptyYet(trx, folder_id, 1, clock.now()))
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, folder.account_id)
      const present = await transferOf(trx, folder_id)
      const { account_id, tree_files } = await folderById(trx, folder_id)
      // Claimed meanwhile: its new account has another lock.
      if (present === undefined || account_id !== folder.account_id) return
      const now = clock.now()
      if (tree_files > 0 || !(await isEmptyTransfer(trx, folder_id))) {
        return notEmptyYet(trx, folder_id, tree_files, now)
      }
      if (present.arrived_files === 0 && present.created_at + EMPTY_TRANSFER_LASTS > now) {
        return notEmptyYet(trx, folder_id, 0, now)
      }
      await remove(trx, present, now)
    })
  }

  return {
    /**
     * Throws Refusal as `AdmitGuest` and `Idempotency.begin` do, SCOPE_MISSING for a key of one folder, RATE_LIMITED,
     * INVALID_REQUEST for terms, and IDEMPOTENCY_MISMATCH.
     */
    async make(caller: Caller, wanted: WantedTransfer, key: string | null): Promise<MadeTransfer> {
      await admit(caller)
      const text = checkedKey(key, caller)
      if (text === null) return make(caller, wanted, null)
      const request = signing.tag('transfer request', JSON.stringify(wanted))
      const begun = await idempotency.begin(caller, ROUTE, text)
      if ('earlier' in begun) return again(begun.earlier, request)
      let isMade = false
      try {
        const made = await make(caller, wanted, { request, key: begun.first })
        isMade = true
        return made
      } finally {
        await begun.first.end(isMade)
      }
    },

    /** All that was to come is there. */
    close: (folder: FolderId): Promise<void> =>
      inTransaction(db, (trx) => updateTransfer(trx, folder, { closed_at: clock.now() })),

    /** Ends one that was just made, with what has come. */
    async discard(folder: FolderId): Promise<void> {
      await inTransaction(db, async (trx) => {
        const present = await findFolder(trx, folder)
        const transfer = await transferOf(trx, folder)
        if (present === undefined || transfer === undefined) return
        await lockAccount(trx, present.account_id)
        await remove(trx, transfer, clock.now())
      })
    },

    ofGuest,

    /** A page of a guest's, oldest first. Throws Refusal NOT_FOUND. */
    async files(
      folder: FolderId,
      page: number,
      perPage: number,
    ): Promise<{ readonly link: LinkId; readonly files: readonly FileListRow[]; readonly total: number }> {
      const { link_id: link } = await ofGuest(folder)
      const files = await filesOfTransfer(db, folder, (page - 1) * perPage, perPage)
      return { link, files, total: (await folderById(db, folder)).tree_files }
    },

    /** Counts as a look at it. */
    keep: (folder: FolderId): Promise<void> => noteTransferUse(db, [folder], clock.now()),

    /** All of it, at once, for everybody; a guest's. Throws Refusal NOT_FOUND. */
    async remove(folder: FolderId): Promise<void> {
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, GUESTS)
        await remove(trx, await guests(trx, folder), clock.now())
      })
      await endUploads(folder)
    },

    /**
     * All or nothing, with folder and link. Throws Refusal NOT_FOUND, REQUEST_UNDER_WAY while files arrive,
     * SCOPE_MISSING for a key of one folder, STORAGE_LIMIT_EXCEEDED.
     */
    async claim(folder: FolderId, caller: AccountCaller): Promise<void> {
      const { account } = caller
      if (caller.within !== null) {
        throw new Refusal(
          'SCOPE_MISSING',
          'A key for one folder claims no transfers; use one for the whole account',
        )
      }
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, GUESTS)
        await lockAccount(trx, account)
        const transfer = await guests(trx, folder)
        if ((await openUploadsOfTransfer(trx, folder, 1)).length > 0 || (await isUnderWay(trx, folder))) {
          throw new Refusal(
            'REQUEST_UNDER_WAY',
            'Files are still arriving; try again when all are here',
            ARRIVING_RETRY,
          )
        }
        const { identifier, name, is_public, parent_id, tree_files, tree_bytes, tree_folders, tree_height } =
          await folderById(trx, folder)
        if (!(await fitsStorage(trx, account, tree_bytes, limitOf(account, config)))) {
          throw await storageFull(trx, account, config)
        }
        const moved = {
          files: tree_files,
          bytes: tree_bytes,
          folders: tree_folders + 1,
          height: tree_height + 1,
        }
        const top = await topFolder(trx, account)
        await giveTransferRows(trx, transfer, {
          account,
          parent: top,
          name: await freeName(trx, top, name),
          closing: is_public === 1 ? 0 : await countClosing(trx, account),
          now: clock.now(),
        })
        if (parent_id !== null) await changeTree(trx, parent_id, takenAway(moved))
        await changeTree(trx, top, moved)
        const totals = { storage: tree_bytes, files: tree_files, folders: moved.folders }
        await changeTotals(trx, GUESTS, { storage: -tree_bytes, files: -tree_files, folders: -moved.folders })
        await changeTotals(trx, account, totals)
        await noteChange(trx, account, { kind: 'folder.added', folder: identifier, place: top })
      })
    },

    /** Ends those without a byte after an hour, others with their last file or upload. */
    async endEmpty(mayGoOn: () => boolean = () => true): Promise<void> {
      const started = clock.now()
      while (mayGoOn()) {
        const some = await transfersToLookAt(db, started, STEP)
        for (const transfer of some) {
          if (!mayGoOn()) return
          await endIfEmpty(transfer)
        }
        if (some.length < STEP) return
      }
    },
  }

  /** Throws Refusal NOT_FOUND. */
  async function ofGuest(folder: FolderId): Promise<TransferRow> {
    const transfer = await transferOf(db, folder)
    const present = await findFolder(db, folder)
    if (transfer === undefined || present?.account_id !== GUESTS) throw notFound()
    return transfer
  }

  async function guests(trx: Trx, folder: FolderId): Promise<TransferRow> {
    const present = await findFolder(trx, folder)
    const transfer = await transferOf(trx, folder)
    if (present === undefined || present.account_id !== GUESTS || transfer === undefined) throw notFound()
    return transfer
  }

  async function again(earlier: object, request: string): Promise<MadeTransfer> {
    if (!('transfer' in earlier && 'request' in earlier && earlier.request === request)) {
      throw new Refusal(
        'IDEMPOTENCY_MISMATCH',
        'This Idempotency-Key was used for another transfer; use a new key for each',
      )
    }
    const id = earlier.transfer as FolderId
    const folder = await findFolder(db, id)
    const transfer = await transferOf(db, id)
    const link = transfer === undefined ? undefined : await linkById(db, transfer.link_id)
    if (folder === undefined || link === undefined) throw folderNotFound()
    return { id, folder: folder.identifier, slug: link.slug }
  }
}

/** From the widest network to the address. */
function pathOf({ network, subnet, address }: Pick<TransferRow, 'network' | 'subnet' | 'address'>): string[] {
  return [...new Set([network, subnet, address])].filter((name) => name !== null)
}

function tooManyEmpty(): Refusal {
  const message = 'Too many transfers were made into which nothing has come; send their files, or delete them'
  return new Refusal('RATE_LIMITED', message, EMPTY_RETRY)
}
