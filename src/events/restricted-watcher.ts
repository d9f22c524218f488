import type { ChangeRow } from '../core/changes.rows.ts'
import type { Database } from '../database/database.ts'
import type { ChangeKind } from '../domain/change.ts'
import type { FolderPlace } from '../domain/ids.ts'
import type { Reach } from '../domain/reach.ts'
import { folderIdOf } from '../files/folders/folders.rows.ts'
import { wasWithin } from '../files/folders/places.ts'
import type { Watcher } from './watcher.ts'

/**
 * A watcher of the account for somebody who may be kept to one folder: told only of what is in it or below it, by the
 * place where that folder is when it is told.
 */
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

/** Null when it is none of theirs. What comes in from outside is new to them, and what goes out is removed. */
async function changeAsSeen(db: Database, reach: Reach, change: ChangeRow): Promise<ChangeRow | null> {
  const { kind, place, from_place: from } = change
  // A link may open more than that folder.
  if (change.kind === 'link') return null
  if (change.folder === reach.within) {
    // Where it is, and that it was moved, is its parent's.
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
