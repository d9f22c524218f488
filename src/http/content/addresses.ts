import type { Asker } from '../../domain/access.ts'
import { extensionOf } from '../../domain/file-name.ts'
import type { ContentUse } from '../../services/content-tokens.ts'
import type { FileDetail } from '../../services/files.ts'
import type { Site } from '../call.ts'

/** `<uuid>.<ext>`, or the UUID alone when the name has no plain extension. */
export function contentName(file: FileDetail): string {
  const extension = extensionOf(file.name)
  return /^[a-z0-9]{1,16}$/.test(extension) ? `${file.uuid}.${extension}` : file.uuid
}

/** A signed address of the bytes, for whoever asks. */
export function contentAddress(
  site: Site,
  asker: Asker,
  file: FileDetail,
  use: ContentUse & { readonly download: boolean },
): string {
  const token = site.services.contentTokens.issue(asker, file.uuid, use)
  return `${site.contentUrl}/v2/${contentName(file)}?token=${token}${use.download ? '&download=true' : ''}`
}
