import { join } from 'node:path'
import { localName } from './local-names.ts'
import type { PublicClient } from './public-client.ts'

export type Walked =
  | {
      readonly kind: 'file'
      readonly folder: string
      readonly name: string
      readonly slug: string
      readonly size: number
    }
  | { readonly kind: 'failure'; readonly folder: string; readonly error: unknown }
  | { readonly kind: 'folder'; readonly folder: string }

export async function* walkRemoteFolder(
  client: PublicClient,
  identifier: string,
  into: string,
): AsyncGenerator<Walked> {
  const subfolders: string[] = []
  let folder = into
  try {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const contents = await client.folder(identifier, page)
      pages = contents.pages
      folder = join(into, localName(contents.name))
      if (page === 1) yield { kind: 'folder', folder }
      subfolders.push(...contents.folders.map((sub) => sub.identifier))
      for (const { name, slug, size } of contents.files) yield { kind: 'file', folder, name, slug, size }
    }
  } catch (error) {
    yield { kind: 'failure', folder, error }
  }
  for (const subfolder of subfolders) yield* walkRemoteFolder(client, subfolder, folder)
}
