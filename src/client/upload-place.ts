import type { FolderName } from './api.ts'

/** Where an upload goes: into a folder of the account, or into a guest's transfer and folders below it. */
export type UploadPlace =
  | { readonly kind: 'folder'; readonly folder: FolderName }
  | {
      readonly kind: 'transfer'
      /** Identifier of its folder. */
      readonly folder: string
      /** A secret. */
      readonly receipt: string
      readonly path: readonly string[]
    }

export const TOP_LEVEL: UploadPlace = { kind: 'folder', folder: 'root' }

/** The same for the same place in each run. */
export function placeName(place: UploadPlace): string {
  return place.kind === 'folder' ? place.folder : [place.folder, ...place.path].join('/')
}

/** Only tus makes folders on the way. */
export function needsTus(place: UploadPlace): boolean {
  return place.kind === 'transfer' && place.path.length > 0
}

/** Of an upload in one request. */
export function placeHeaders(place: UploadPlace): Readonly<Record<string, string>> {
  if (place.kind === 'transfer') return { 'Holdfast-Transfer': place.receipt }
  return place.folder === 'root' ? {} : { 'X-Folder-ID': place.folder }
}

/** Of a tus upload, beside `placeHeaders` of a transfer. */
export function placeMetadata(place: UploadPlace, name: string): Readonly<Record<string, string>> {
  if (place.kind === 'transfer') {
    return place.path.length === 0 ? {} : { relativePath: [...place.path, name].join('/') }
  }
  return place.folder === 'root' ? {} : { folder: place.folder }
}
