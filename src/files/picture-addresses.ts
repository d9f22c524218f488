import type { Uuid } from '../domain/ids.ts'
import { iconAddress } from '../thumbnails/icons.ts'
import type { Shownable, Thumbnails } from '../thumbnails/thumbnails.ts'
import { thumbnailPath } from './file-answers.ts'
import type { FileListRow } from './file-lists.rows.ts'

type Pictured = Shownable & { readonly uuid: Uuid; readonly name: string }

/** Relative addresses. Icons are shared by a kind of files and cached by browsers. */
export async function pictureAddresses(
  thumbnails: Pick<Thumbnails, 'without'>,
  files: readonly Pictured[],
): Promise<(file: Pictured) => string> {
  const iconsOnly = await thumbnails.without(files)
  return (file) => (iconsOnly.has(file) ? iconAddress(file.type, file.name) : thumbnailPath(file.uuid))
}

export function pictureAddress(thumbnails: Pick<Thumbnails, 'shows'>, file: FileListRow): string {
  return thumbnails.shows(file) ? thumbnailPath(file.uuid) : iconAddress(file.type, file.name)
}
