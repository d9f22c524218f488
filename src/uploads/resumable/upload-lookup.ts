import { findAccount } from '../../core/accounts.rows.ts'
import { assertScope, type Caller, ownerOf } from '../../core/callers.ts'
import { hashToken, type Signing } from '../../core/hmac.ts'
import type { Aging, Outages } from '../../core/outages.ts'
import type { Database } from '../../database/database.ts'
import type { Reach } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import {
  type FolderIdentifier,
  GUESTS,
  isSlug,
  type OwnUploadName,
  type Slug,
  type UploadToken,
} from '../../domain/ids.ts'
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

const MOST_LISTED = 1000

export interface UploadLookupParts {
  readonly db: Database
  readonly ownNames: OwnUploadNames
  readonly clock: Clock
  readonly outages: Pick<Outages, 'settle'>
  readonly aging: Aging
  /** For uploads without a byte. */
  readonly emptyAging: Aging
}

export class UploadLookup {
  readonly #parts: UploadLookupParts

  constructor(parts: UploadLookupParts) {
    this.#parts = parts
  }

  /** Throws Refusal UPLOAD_NOT_FOUND or INVALID_API_KEY. */
  async authorized(caller: Caller, name: string): Promise<UploadRow> {
    const upload = await this.#named(caller, name)
    if (upload === undefined) throw uploadNotFound()
    // A contributor has no account: the token suffices.
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

  /** Throws Refusal UPLOAD_GONE besides. */
  async alive(caller: Caller, name: string): Promise<UploadRow> {
    return this.assertAlive(await withPartsReceived(this.#parts.db, await this.authorized(caller, name)))
  }

  /** Works for guests too: a part's reservation passes to the final upload within one account. */
  async ownPart(caller: Caller, token: UploadToken): Promise<UploadRow> {
    const part = await this.authorized(caller, token)
    if (part.account_id !== ownerOf(caller)) throw uploadNotFound()
    return part
  }

  /** Null unless it has its parts or waits for them. Throws Refusal as `alive` does. */
  async begunFinal(caller: Caller, token: UploadToken): Promise<UploadRow | null> {
    const { db } = this.#parts
    const upload = await uploadByToken(db, hashToken(token))
    if (upload === undefined || (upload.state === 'uploading' && !awaitsParts(upload))) return null
    return this.alive(caller, token)
  }

  /** Throws Refusal UPLOAD_GONE when the upload has expired or failed. */
  async assertAlive(upload: UploadRow): Promise<UploadRow> {
    // An expired upload may have waited out an outage not recorded yet.
    const { clock, outages } = this.#parts
    const hasExpired =
      this.#hasExpired(upload, clock.now()) && this.#hasExpired(upload, await outages.settle())
    if (upload.state !== 'failed' && !hasExpired) return upload
    throw new Refusal('UPLOAD_GONE', 'This upload has expired or failed; start a new one')
  }

  /** Throws Refusal UPLOAD_NOT_FOUND. */
  async openBySlug(reach: Reach, slug: Slug): Promise<UploadRow> {
    const { db } = this.#parts
    const upload = await openUploadBySlug(db, reach.account, slug)
    if (upload === undefined || !(await isWithin(db, reach, upload.folder_id))) throw uploadNotFound()
    return upload
  }

  async bySlug(reach: Reach, slug: Slug): Promise<UploadRow | null> {
    const { db } = this.#parts
    const upload = await uploadBySlug(db, slug)
    if (upload?.account_id !== reach.account) return null
    return (await isWithin(db, reach, upload.folder_id)) ? withPartsReceived(db, upload) : null
  }

  /** Unfinished, within reach, oldest first, at most 1,000. */
  async list({ account, within }: Reach): Promise<UploadRow[]> {
    const { db } = this.#parts
    const top = within === null ? null : await findFolder(db, within)
    if (top === undefined) return []
    const uploads = await openUploads(db, account, top?.id ?? null, MOST_LISTED)
    return Promise.all(uploads.map((upload) => withPartsReceived(db, upload)))
  }

  /** The folder in which `depth` folders of the upload's path were created; null for the top of the reach. */
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

  /** Expiry without more bytes. */
  expiresAt({ used_at, received, state }: Pick<UploadRow, 'used_at' | 'received' | 'state'>): number {
    const { aging, emptyAging } = this.#parts
    const end = aging.endOf(used_at)
    return received === 0 && state === 'uploading' ? Math.min(end, emptyAging.endOf(used_at)) : end
  }

  #hasExpired(upload: UploadRow, now: number): boolean {
    // One without a byte expires only by the job: its sender may have sent elsewhere meanwhile.
    return upload.state === 'uploading' && this.#parts.aging.endOf(upload.used_at) <= now
  }

  /** Owner names find account uploads only, which the caller may end anyway. */
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

/** Signed names for owners without the token. The link, which owners share, does not lead to one. */
interface OwnUploadNames {
  of(slug: Slug): OwnUploadName
  read(name: string): Slug | null
}

const PURPOSE = 'own upload'

export function createOwnUploadNames(signing: Signing): OwnUploadNames {
  return {
    of: (slug) => signing.sign(PURPOSE, slug) as OwnUploadName,
    read(name) {
      const slug = signing.verify(PURPOSE, name)
      return typeof slug === 'string' && isSlug(slug) ? slug : null
    },
  }
}
