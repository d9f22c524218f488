import { UPLOADS_PATH } from '../../contract/uploads.ts'
import { reachOf, type Sender } from '../../core/callers.ts'
import { hashToken, type Signing } from '../../core/hmac.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/differences.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { cleanFileName } from '../../domain/file-name.ts'
import { parseFolderName } from '../../domain/folder-name.ts'
import type { FolderPlace, UploadToken } from '../../domain/ids.ts'
import { makeBlobKey, makeSlug, makeUploadToken, makeUuid, type Random } from '../../domain/random.ts'
import type { Answers } from '../../domain/upload-terms.ts'
import { ensurePath } from '../../files/folders/folder-path.ts'
import { resolvePlace } from '../../files/folders/places.ts'
import type { Contributions } from '../contributions.ts'
import type { StartedByGuest } from '../guest-admission.ts'
import { assertFileSize } from '../refusals.ts'
import { type NewUploadRow, type UploadRow, uploadByToken } from '../uploads.rows.ts'
import { originOf } from './empty-uploads.ts'
import { areWhole, claimParts, sizeOfParts } from './part-claims.ts'
import type { UploadReservations } from './upload-reservations.ts'

type WantedRow = Pick<NewUploadRow, 'kind' | 'size' | 'concat' | 'part'> & { readonly token: UploadToken }

export interface UploadCreationParts {
  readonly db: Database
  readonly health: StoreHealth
  readonly reservations: UploadReservations
  readonly contributions: Contributions
  readonly clock: Clock
  readonly random: Random
  readonly signing: Signing
  readonly maxFileSize: number
  readonly maxFolderDepth: number
}

export class UploadCreation {
  readonly #parts: UploadCreationParts

  constructor(parts: UploadCreationParts) {
    this.#parts = parts
  }

  /** Reserves all of it. Throws Refusal as `ResumableUploads.create` does. */
  async create(
    caller: Sender,
    request: NewUpload,
    parts: readonly UploadRow[],
  ): Promise<{ token: UploadToken; upload: UploadRow }> {
    const { db, health, random, reservations, maxFileSize } = this.#parts
    health.assertUsable()
    const { content } = request
    if (content.kind === 'in parts') return this.#createInParts(caller, request, content)
    const token = this.repeatableToken(caller, request) ?? makeUploadToken(random)
    if (content.kind === 'final') {
      const size = sizeOfParts(parts)
      assertFileSize(size, maxFileSize)
      if (!areWhole(parts)) {
        const missing = parts.reduce((sum, part) => sum + Math.max(0, (part.size ?? 0) - part.reserved), 0)
        if (caller.kind === 'guest') await reservations.check(caller, missing)
        return { token, upload: await this.#insertFinal(caller, request, content, token, size) }
      }
      const final = await this.#insertFinal(caller, request, content, token, null)
      return { token, upload: await claimParts(db, final, parts, size) }
    }
    assertFileSize(content.size ?? 0, maxFileSize)
    const { kind, size } = content
    const concat = kind === 'whole' ? null : content.concat
    return { token, upload: await this.#insert(caller, request, size ?? 0, [{ token, kind, size, concat }]) }
  }

  repeatableToken(caller: Sender, request: NewUpload): UploadToken | null {
    return repeatableToken(this.#parts, caller, request)
  }

  async #createInParts(
    caller: Sender,
    request: NewUpload,
    content: ContentInParts,
  ): Promise<{ token: UploadToken; upload: UploadRow }> {
    const { lengths } = content
    const size = lengths.reduce((sum, length) => sum + length, 0)
    assertFileSize(size, this.#parts.maxFileSize)
    const { whole, parts } = tokensInParts(this.#parts, caller, request, content)
    const addresses = parts.map((token) => `${UPLOADS_PATH}/${token}`)
    const final = { token: whole, kind: 'final', size, concat: `final;${addresses.join(' ')}` } as const
    const wanted = parts.map((token, part) => {
      return { token, kind: 'partial', size: lengths[part] ?? 0, concat: 'partial', part } as const
    })
    try {
      return { token: whole, upload: await this.#insert(caller, request, size, [final, ...wanted]) }
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new Refusal('UPLOAD_GONE', 'The upload of this Idempotency-Key has ended; start a new one')
    }
  }

  /** May return an equal earlier request's row that waits, or whose node died. A size means waiting for parts. */
  async #insertFinal(
    caller: Sender,
    request: NewUpload,
    { concat }: FinalContent,
    token: UploadToken,
    size: number | null,
  ): Promise<UploadRow> {
    const { db } = this.#parts
    const find = () => uploadByToken(db, hashToken(token))
    const begun = await find()
    if (begun !== undefined) return begun
    try {
      // The parts have their reservations.
      return await this.#insert(caller, request, 0, [{ token, kind: 'final', size, concat }])
    } catch (error) {
      const same = isUniqueViolation(error) ? await find() : undefined
      if (same !== undefined) return same
      throw error
    }
  }

  /** Reserves `bytes` in all. Returns the first row. */
  async #insert(
    caller: Sender,
    request: NewUpload,
    bytes: number,
    [first, ...others]: readonly [WantedRow, ...WantedRow[]],
  ): Promise<UploadRow> {
    const { db, reservations, contributions, clock, random, signing, maxFolderDepth } = this.#parts
    const { place, path } = request
    const reach = reachOf(caller)
    const { account } = reach
    const names = path.map(parseFolderName)
    // Before reserving, so that a missing place is reported as such.
    const start = await resolvePlace(db, reach, place)
    const now = clock.now()
    const uuid = makeUuid(random)
    const name = cleanFileName(request.name)
    return reservations.create(caller, bytes, async (trx) => {
      if (caller.kind === 'contributor') {
        const { answers = {} } = request
        if (names.length > 0) await contributions.assertFewFolders(trx, start)
        await contributions.take(trx, caller, {
          name,
          size: declaredUploadSize(request),
          answers,
          uuid,
          reservation: null,
        })
      }
      const common = {
        account_id: account,
        folder_id: await ensurePath(trx, account, start, names, { random, now, maxDepth: maxFolderDepth }),
        name,
        received: 0,
        created_at: now,
        used_at: now,
        ...originOf(signing, caller),
        ...(caller.kind === 'contributor' ? { link_id: caller.link } : {}),
      }
      const row = ({ token, ...wanted }: WantedRow) => ({
        ...common,
        ...wanted,
        token_hash: hashToken(token),
        slug: makeSlug(random),
        key: makeBlobKey(random),
        state: wanted.size === 0 ? ('processing' as const) : ('uploading' as const),
      })
      const about = { declared_type: request.declaredType, metadata: request.metadata }
      return [
        { ...row(first), ...about, uuid },
        ...others.map((part) => ({
          ...row(part),
          ...{ declared_type: null, metadata: '', uuid: makeUuid(random) },
        })),
      ]
    })
  }
}

interface TokenSources {
  readonly signing: Signing
  readonly random: Random
}

/** Derived from the request: a repetition finds the upload, since parts can be claimed but once. */
function repeatableToken(sources: TokenSources, caller: Sender, request: NewUpload): UploadToken | null {
  const { content, metadata } = request
  if (content.kind === 'whole' || content.kind === 'partial' || content.key === null) return null
  if (content.kind === 'in parts') return tokensInParts(sources, caller, request, content).whole
  return finalToken(content.key, content.parts, metadata)
}

/** As secret as the parts' own tokens. */
export function finalToken(key: string, parts: readonly UploadToken[], metadata: string): UploadToken {
  return tokenFrom(JSON.stringify(['final upload', key, parts, metadata]))
}

/** Derived from the server's secret too, so that guessing a request's key reveals nothing. */
function tokensInParts(
  { signing, random }: TokenSources,
  caller: Sender,
  { metadata, place }: NewUpload,
  { key, lengths }: ContentInParts,
): { readonly whole: UploadToken; readonly parts: readonly UploadToken[] } {
  const sender = caller.kind === 'account' ? caller.account : caller.bucket
  const seed =
    key === null
      ? makeUploadToken(random)
      : signing.sign('upload in parts', [sender, key, place, metadata, lengths])
  return {
    whole: tokenFrom(`whole\n${seed}`),
    parts: lengths.map((_, part) => tokenFrom(`part ${part}\n${seed}`)),
  }
}

function tokenFrom(secret: string): UploadToken {
  return Bun.SHA256.hash(secret, 'hex').slice(0, 32) as UploadToken
}

interface ContentInParts {
  readonly kind: 'in parts'
  /** Bytes of each part, in order. */
  readonly lengths: readonly number[]
  readonly key: string | null
}

interface FinalContent {
  readonly kind: 'final'
  readonly parts: readonly UploadToken[]
  readonly concat: string
  readonly key: string | null
}

export interface NewUpload {
  readonly place: FolderPlace
  /** Whether the request names the folder; guests may not. */
  readonly namesFolder: boolean
  /** Folders, created where missing. */
  readonly path: readonly string[]
  readonly name: string
  readonly declaredType: string | null
  /** As sent, and returned so. */
  readonly metadata: string
  readonly answers?: Answers
  readonly content:
    | { readonly kind: 'whole'; readonly size: number | null }
    | { readonly kind: 'partial'; readonly size: number | null; readonly concat: string }
    | ContentInParts
    | FinalContent
}

/** Throws Refusal INVALID_REQUEST: a link takes each file as one upload of known length. */
export function declaredUploadSize({ content }: NewUpload): number {
  if (content.kind === 'whole' && content.size !== null) return content.size
  throw new Refusal('INVALID_REQUEST', 'An upload by a link needs Upload-Length, and is not made of parts')
}

export function startedBy({ content }: NewUpload): StartedByGuest {
  if (content.kind === 'partial') return { uploads: 0, parts: 1 }
  return { uploads: 1, parts: content.kind === 'in parts' ? content.lengths.length : 0 }
}
