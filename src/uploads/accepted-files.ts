import { Refusal } from '../domain/errors.ts'
import { extensionOf } from '../domain/file-name.ts'
import { mediaTypeOfName } from '../domain/media-type.ts'
import { formatSize } from '../domain/sizes.ts'
import { type LinkUsage, MOST_FILES, type UploadTerms } from '../domain/upload-terms.ts'

export interface OfferedFile {
  readonly name: string
  readonly size: number
}

/** By extension alone: a listed one, or one of a listed media type. */
function isAcceptedType(types: readonly string[], name: string): boolean {
  const extension = `.${extensionOf(name)}`
  const media = mediaTypeOfName(name)
  return types.some((type) => {
    if (type.startsWith('.')) return type === extension
    return type.endsWith('/*') ? media?.startsWith(type.slice(0, -1)) === true : type === media
  })
}

/** Throws Refusal LINK_USED_UP, FILE_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE. */
export function assertAccepted(terms: UploadTerms, taken: LinkUsage, { name, size }: OfferedFile): void {
  const { maxFileSize, types } = terms
  if (types !== null && !isAcceptedType(types, name)) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      `This link takes only these kinds of files: ${types.join(', ')}`,
    )
  }
  if (maxFileSize !== null && size > maxFileSize) {
    throw new Refusal('FILE_TOO_LARGE', `A file for this link may have ${formatSize(maxFileSize)} at most`)
  }
  assertRoom(terms, taken, { files: 1, size })
}

/** Throws Refusal LINK_USED_UP when the link takes nothing more, FILE_TOO_LARGE when it takes less than `more`. */
export function assertRoom({ maxFiles, maxSize }: UploadTerms, taken: LinkUsage, more: LinkUsage): void {
  const left = maxSize === null ? Number.POSITIVE_INFINITY : maxSize - taken.size
  if (taken.files + more.files > (maxFiles ?? MOST_FILES) || left <= 0) {
    throw new Refusal('LINK_USED_UP', 'This link takes no more files; ask the person who sent it')
  }
  if (more.size > left) {
    const message = `This link takes ${formatSize(left)} more at most; send a smaller file, or ask the person who sent it`
    throw new Refusal('FILE_TOO_LARGE', message)
  }
}
