import { Refusal } from '../../domain/errors.ts'
import type { FolderId } from '../../domain/ids.ts'
import type { UploadTerms } from '../../domain/upload-terms.ts'

const NO_LIMITS = { max_files: null, max_size: null, max_file_size: null, types: null, fields: '{}' }

export function uploadColumns({ maxFiles, maxSize, maxFileSize, types, fields }: Partial<UploadTerms>) {
  return {
    ...(maxFiles === undefined ? {} : { max_files: maxFiles }),
    ...(maxSize === undefined ? {} : { max_size: maxSize }),
    ...(maxFileSize === undefined ? {} : { max_file_size: maxFileSize }),
    ...(types === undefined ? {} : { types: types === null || types.length === 0 ? null : types.join(',') }),
    ...(fields === undefined ? {} : { fields: JSON.stringify(fields) }),
  }
}

export function newUploads(folder_id: FolderId, terms: Partial<UploadTerms>) {
  return { ...NO_LIMITS, ...uploadColumns(terms), folder_id }
}

/** Throws Refusal INVALID_REQUEST for terms of the other kind of link. */
export function assertTermsFit(
  {
    uploads,
    maxDownloads = null,
  }: {
    readonly uploads?: Partial<UploadTerms>
    readonly maxDownloads?: number | null
  },
  takesUploads: boolean,
): void {
  if (uploads !== undefined && !takesUploads) {
    throw new Refusal('INVALID_REQUEST', '"uploads": this link opens something; make another one for uploads')
  }
  if (maxDownloads !== null && takesUploads) {
    throw new Refusal(
      'INVALID_REQUEST',
      '"max_downloads": nothing is downloaded by a link that takes uploads',
    )
  }
}
