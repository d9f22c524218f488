import type { Uuid } from '../../domain/ids.ts'
import type { Shownable } from '../../services/thumbnails.ts'
import { thumbnailPath } from '../api/file-answers.ts'
import type { Site } from '../call.ts'
import { iconAddress } from './icons.ts'

type Pictured = Shownable & { readonly uuid: Uuid; readonly name: string }

/**
 * Relative addresses of pictures for these files: the thumbnail where there is or may be one, otherwise the icon, which
 * browsers keep and all files of a kind share.
 */
export async function pictureAddresses(
  { services }: Pick<Site, 'services'>,
  files: readonly Pictured[],
): Promise<(file: Pictured) => string> {
  const iconsOnly = await services.thumbnails.without(files)
  return (file) => (iconsOnly.has(file) ? iconAddress(file.type, file.name) : thumbnailPath(file.uuid))
}
