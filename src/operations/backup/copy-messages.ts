import type { StoreFailureReason } from '../../blobs/blob-store.ts'
import type { StorePlace } from '../../config/setting-groups.ts'
import type { StoreSettings } from '../../storage.ts'
import type { CopiedBlob, KnownAtTarget } from '../relocation/blob-copier.ts'
import type { BlobToMove } from '../relocation/relocated-blobs.rows.ts'

export interface CopyThreadOptions {
  readonly config: StoreSettings
  readonly place: StorePlace
  readonly key: string | null
  readonly isSyncedLater: boolean
  /** Bytes a second. */
  readonly rate: number | null
}

export type CopyRequest =
  | ({ readonly kind: 'open' } & CopyThreadOptions)
  | { readonly kind: 'copy'; readonly blob: BlobToMove; readonly known: KnownAtTarget }
  | { readonly kind: 'stop' }

export type CopyReply =
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'end'; readonly id: BlobToMove['id']; readonly end: CopiedBlob }
  /** `reason`: of a StoreFailure. */
  | {
      readonly kind: 'failure'
      readonly id: BlobToMove['id']
      readonly message: string
      readonly reason: StoreFailureReason | null
    }
