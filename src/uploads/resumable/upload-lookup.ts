import { findAccount } from '../../core/accounts.rows.ts'
import { assertScope, type Caller, ownerOf } from '../../core/callers.ts'
import type { Aging, Outages } from '../../core/outages.ts'
import { hashToken } from '../../core/token-hash.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import {
  type FolderIdentifier,
  GUESTS,
  type OwnUploadName,
  type Slug,
  type UploadToken,
} from '../../domain/ids.ts'
import type { Reach } from '../../domain/reach.ts'
import { findFolder, folderChain } from '../../files/folders/folders.rows.ts'
import { isWithin, wasWithin } from '../../files/folders/places.ts'
import {
  openUploadBySlug,
  openUploads,
  type UploadRow,
  uploadBySlug,
  uploadByToken,
} from '../uploads.rows.ts'
import { uploadNotFound } from './append-leases.ts'
import { awaitsParts, withPartsReceived } from './awaited-parts.ts'
import type { OwnUploadNames } from './own-upload-names.ts'

const MOST_LISTED = 1000

export interface UploadLookupParts {
  readonly db: Database
  readonly ownNames: OwnUploadNames
  readonly clock: Clock
  readonly outages: Pick<Outages, 'settle'>
  readonly aging: Aging
  /** Of uploads without a byte. */
  readonly emptyAging: Aging
}

/** Finds resumable uploads for those who may have them. */
export class UploadLookup {
  readonly #parts: UploadLookupParts

  constructor(parts: UploadLookupParts) {
    this.#parts = parts
  }

  /** The upload of that name. Throws Refusal UPLOAD_NOT_FOUND or INVALID_API_KEY. */
  async authorized(caller: Caller, name: string): Promise<UploadRow> {
    const upload = await this.#named(caller, name)
    if (upload === undefined) throw uploadNotFound()
    // Who has begun it by a link has no account: the token is all that it takes.
    const isContributors = upload.link_id !== null && upload.token_hash === hashToken(name)
    if (isContributors) {
      const owner = await findAccount(this.#parts.db, upload.account_id)
      if (owner?.disabled_at !== null) throw uploadNotFound()
    } else if (upload.account_id !== GUESTS) {
      if (caller.kind === 'guest') {
        throw new Refusal(
          'INVALID_API_KEY',
          'This upload was started with an API key and needs one of that account',
        )
      }
      if (caller.account !== upload.account_id) throw uploadNotFound()
      // A folder in the bin may be restored, and the upload goes on then.
      if (!(await wasWithin(this.#parts.db, caller, upload.folder_id))) throw uploadNotFound()
    }
    return upload
  }

  /** The same of one that can go on. Throws Refusal UPLOAD_GONE besides. */
  async alive(caller: Caller, name: string): Promise<UploadRow> {
    return this.assertAlive(await withPartsReceived(this.#parts.db, await this.authorized(caller, name)))
  }

  /** Also of guests' parts: the reservation of a part becomes the whole's, and is the same account's before and after. */
  async ownPart(caller: Caller, token: UploadToken): Promise<UploadRow> {
    const part = await this.authorized(caller, token)
    if (part.account_id !== ownerOf(caller)) throw uploadNotFound()
    return part
  }

  /** The final upload of that token, if it has its parts or waits for them; null otherwise. Throws Refusal as `alive` does. */
  async begunFinal(caller: Caller, token: UploadToken): Promise<UploadRow | null> {
    const { db } = this.#parts
    const upload = await uploadByToken(db, hashToken(token))
    if (upload === undefined || (upload.state === 'uploading' && !awaitsParts(upload))) return null
    return this.alive(caller, token)
  }

  /** Throws Refusal UPLOAD_GONE when the upload has expired or failed. */
  async assertAlive(upload: UploadRow): Promise<UploadRow> {
    // What looks expired may have waited for a service that was away, and that nobody has noted yet.
    const { clock, outages } = this.#parts
    const hasExpired =
      this.#hasExpired(upload, clock.now()) && this.#hasExpired(upload, await outages.settle())
    if (upload.state !== 'failed' && !hasExpired) return upload
    throw new Refusal('UPLOAD_GONE', 'This upload has expired or failed; start a new one')
  }

  /** The unfinished upload within reach whose link that is. Throws Refusal UPLOAD_NOT_FOUND. */
  async openBySlug(reach: Reach, slug: Slug): Promise<UploadRow> {
    const { db } = this.#parts
    const upload = await openUploadBySlug(db, reach.account, slug)
    if (upload === undefined || !(await isWithin(db, reach, upload.folder_id))) throw uploadNotFound()
    return upload
  }

  /** The upload within reach whose link that is. */
  async bySlug(reach: Reach, slug: Slug): Promise<UploadRow | null> {
    const { db } = this.#parts
    const upload = await uploadBySlug(db, slug)
    if (upload?.account_id !== reach.account) return null
    return (await isWithin(db, reach, upload.folder_id)) ? withPartsReceived(db, upload) : null
  }

  /** Unfinished uploads within reach, oldest first, at most 1,000. */
  async list({ account, within }: Reach): Promise<UploadRow[]> {
    const { db } = this.#parts
    const top = within === null ? null : await findFolder(db, within)
    if (top === undefined) return []
    const uploads = await openUploads(db, account, top?.id ?? null, MOST_LISTED)
    return Promise.all(uploads.map((upload) => withPartsReceived(db, upload)))
  }

  /** The folder that `depth` folders of the upload's path were made in; null for the top of what is within reach. */
  async startOf(
    { within }: Reach,
    { folder_id }: Pick<UploadRow, 'folder_id'>,
    depth: number,
  ): Promise<FolderIdentifier | null> {
    const chain = await folderChain(this.#parts.db, folder_id)
    const top = within === null ? 0 : chain.findIndex(({ identifier }) => identifier === within)
    return top === -1 ? null : (chain.slice(top, chain.length - depth).at(-1)?.identifier ?? null)
  }

  nameForOwner({ slug }: Pick<UploadRow, 'slug'>): OwnUploadName {
    return this.#parts.ownNames.of(slug)
  }

  /** When an upload that gets no more bytes is given up. */
  expiresAt({ used_at, received, state }: Pick<UploadRow, 'used_at' | 'received' | 'state'>): number {
    const { aging, emptyAging } = this.#parts
    const end = aging.endOf(used_at)
    return received === 0 && state === 'uploading' ? Math.min(end, emptyAging.endOf(used_at)) : end
  }

  #hasExpired(upload: UploadRow, now: number): boolean {
    // One without a byte is over once it was given up: bytes of its sender may have come meanwhile.
    return upload.state === 'uploading' && this.#parts.aging.endOf(upload.used_at) <= now
  }

  /** By the name for owners only an account's uploads are found, by whoever may end them anyway. */
  async #named(caller: Caller, name: string): Promise<UploadRow | undefined> {
    const { db, ownNames } = this.#parts
    const slug = ownNames.read(name)
    if (slug === null) return uploadByToken(db, hashToken(name))
    if (caller.kind === 'guest') return undefined
    assertScope(caller, 'manage')
    const upload = await uploadBySlug(db, slug)
    return upload?.account_id === caller.account ? upload : undefined
  }
}
