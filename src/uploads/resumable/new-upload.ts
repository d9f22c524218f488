import { Refusal } from '../../domain/errors.ts'
import type { FolderPlace, UploadToken } from '../../domain/ids.ts'
import type { Answers } from '../../domain/upload-terms.ts'
import type { StartedByGuest } from '../guest-admission.ts'

export interface ContentInParts {
  readonly kind: 'in parts'
  /** Bytes of each part, in order. */
  readonly lengths: readonly number[]
  readonly key: string | null
}

export interface FinalContent {
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
