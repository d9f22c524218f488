import { isFolderCalled } from '../../../src/domain/folder-name.ts'
import { refusedRequest } from '../../shared/fetch-json.ts'
import { createFolder, fetchFolders } from '../client.ts'
import type { Place } from '../entry.ts'

/** Creates folders with their ancestors below `place`; existing ones stay. Throws RequestFailure. */
export async function makeFolders(place: Place, paths: readonly string[]): Promise<void> {
  const known = new Map<string, Place>()
  for (const path of paths) {
    let above = place
    let walked = ''
    for (const name of path.split('/')) {
      walked = `${walked}/${name}`
      above = known.get(walked) ?? (await folderIn(above, name))
      known.set(walked, above)
    }
  }
}

async function folderIn(place: Place, name: string): Promise<Place> {
  try {
    return await createFolder(name, place)
  } catch (error) {
    if (refusedRequest(error) !== 'DUPLICATE_NAME') throw error
    const siblings = (await fetchFolders()).filter((folder) => folder.place === place)
    const same = siblings.find((folder) => isFolderCalled(folder.name, name))
    if (same === undefined) throw error
    return same.id
  }
}
