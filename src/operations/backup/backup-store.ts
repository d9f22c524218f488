import type { BlobStore } from '../../blobs/blob-store.ts'

/** Contents have their keys of the installation, packed rows new ones. */
export type BackupStore = Pick<
  BlobStore,
  'create' | 'read' | 'size' | 'remove' | 'removeAll' | 'list' | 'listSizes' | 'readMark' | 'writeMark'
>
