import type { ChangeRow } from '../core/changes.rows.ts'
import type { Database } from '../database/database.ts'
import type { ChangeKind } from '../domain/change.ts'
import type { FolderPlace } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { folderIdOf } from '../files/folders/folders.rows.ts'
import { wasWithin } from '../files/folders/places.ts'
import type { Watcher } from './watcher.ts'

/** For callers restricted to one folder: only changes in it or below it, by the folder's place when they are sent. */
export function restrictedWatcher(db: Database, reach: Reach, watcher: Watcher): Watcher {
  if (reach.within === null) return watcher
  return {
    async next() {
      try {
        for (;;) {
          const told = await watcher.next()
          if (told?.kind !== 'change') return told
          const change = await changeAsSeen(db, reach, told.change)
          if (change !== null) return { ...told, change }
        }
      } catch (error) {
        watcher.end()
        throw error
      }
    },

    end: () => watcher.end(),
  }
}

/** Null outside the folder. Entries moved in from outside appear as new, entries moved out as removed. */
async function changeAsSeen(db: Database, reach: Reach, change: ChangeRow): Promise<ChangeRow | null> {
  const { kind, place, from_place: from } = change
  // A link may open more than that folder.
  if (change.kind === 'link') return null
  if (change.folder === reach.within) {
    // Its own place belongs to its parent.
    return kind === 'folder.moved' ? null : { ...change, place: null, from_place: null }
  }
  const isHere = await isPlaceWithin(db, reach, place)
  if (kind !== 'file.moved' && kind !== 'folder.moved') return isHere ? change : null
  const wasHere = await isPlaceWithin(db, reach, from)
  if (isHere && wasHere) return change
  if (isHere) return { ...change, kind: ARRIVED[kind], from_place: null }
  return wasHere ? { ...change, kind: LEFT[kind], place: from, from_place: null } : null
}

type Moved = Extract<ChangeKind, 'file.moved' | 'folder.moved'>
const ARRIVED = { 'file.moved': 'file.added', 'folder.moved': 'folder.added' } as const satisfies Record<
  Moved,
  ChangeKind
>
const LEFT = { 'file.moved': 'file.removed', 'folder.moved': 'folder.removed' } as const satisfies Record<
  Moved,
  ChangeKind
>

async function isPlaceWithin(db: Database, reach: Reach, place: FolderPlace | null): Promise<boolean> {
  if (place === null || place === 'root') return false
  const folder = await folderIdOf(db, place)
  return folder !== undefined && wasWithin(db, reach, folder)
}
