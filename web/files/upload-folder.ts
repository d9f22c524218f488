import { type Place, TOP } from './entry.ts'

/** A place as uploads name it: null for the top level. */
export function uploadFolder(place: Place): string | null {
  return place === TOP ? null : place
}
