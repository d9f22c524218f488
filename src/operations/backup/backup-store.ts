import type { BlobStore } from '../../blobs/blob-store.ts'

/** Contents under the keys that they have in the installation, and packed rows under keys of their own. */
export type BackupStore = Pick<
  BlobStore,
  'create' | 'read' | 'size' | 'remove' | 'removeAll' | 'list' | 'listSizes' | 'readMark' | 'writeMark'
>
