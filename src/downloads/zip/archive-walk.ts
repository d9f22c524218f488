import type { Database } from '../../database/database.ts'
import { yieldToEventLoop } from '../../domain/clock.ts'
import type { FolderId } from '../../domain/ids.ts'
import {
  type ArchiveFileRow,
  type ArchiveFolderRow,
  archiveFilesAfter,
  archiveFilesOf,
  archiveSubfolders,
} from './archive.rows.ts'
import type { PlanBuilder } from './archive-plan.ts'
import { incrementalCollector } from './garbage-collection.ts'
import { type ZipNames, zipNames } from './zip-names.ts'

/** Rows that one statement reads, or a few more where files came meanwhile. */
const PAGE = 500
/** Folders that one statement asks about. */
const MOST_FOLDERS = 200

/** A folder, and what it is in the plan. */
interface Step {
  readonly row: ArchiveFolderRow
  readonly entry: number
}

/**
 * Plans everything below the live folder that `mayEnter` lets in, level by level and in pages: what a folder holds
 * stands together, its folders by age and its files by name. The same folders and files give the same plan. Throws what
 * `gone` was aborted with when nobody wants it any more.
 */
export async function planTree(
  db: Database,
  top: Step,
  mayEnter: (folder: ArchiveFolderRow) => boolean,
  plan: PlanBuilder,
  gone: AbortSignal,
): Promise<void> {
  const passed = incrementalCollector()
  let level: Step[] = [top]
  while (level.length > 0) {
    const below: Step[] = []
    for (const some of together(level)) {
      const open = openFolders(some)
      for await (const row of subfolders(db, some)) {
        gone.throwIfAborted()
        if (row.parent_id === null || !mayEnter(row)) continue
        const { entry, names } = open(row.parent_id)
        below.push({ row, entry: plan.addFolder(entry, names.take(row.name), row.created_at) })
      }
      for await (const row of files(db, some)) {
        gone.throwIfAborted()
        const { entry, names } = open(row.folder_id)
        plan.addFile(entry, names.take(row.name, row.name_folded), row)
        passed()
      }
    }
    level = below
  }
}

interface OpenFolder {
  readonly entry: number
  readonly names: ZipNames
}

function openFolders(steps: readonly Step[]): (id: FolderId) => OpenFolder {
  const folders = new Map<FolderId, OpenFolder>()
  for (const { row, entry } of steps) folders.set(row.id, { entry, names: zipNames() })
  return (id) => {
    const folder = folders.get(id)
    if (folder === undefined) throw new Error('a row lies in a folder that was not asked about')
    return folder
  }
}

/** The folders in groups that hold no more than a page together, or are alone. */
function* together(steps: readonly Step[]): Generator<readonly Step[]> {
  let group: Step[] = []
  let weight = 0
  for (const step of steps) {
    const its = step.row.file_count + step.row.tree_folders
    if (group.length === MOST_FOLDERS || (group.length > 0 && weight + its > PAGE)) {
      yield group
      group = []
      weight = 0
    }
    group.push(step)
    weight += its
  }
  if (group.length > 0) yield group
}

async function* subfolders(db: Database, steps: readonly Step[]): AsyncGenerator<ArchiveFolderRow> {
  const parents = steps.filter(({ row }) => row.tree_folders > 0).map(({ row }) => row.id)
  let after: FolderId | null = null
  while (parents.length > 0) {
    const page: ArchiveFolderRow[] = await archiveSubfolders(db, parents, after, PAGE)
    yield* page
    await yieldToEventLoop()
    after = page.at(-1)?.id ?? null
    if (page.length < PAGE) return
  }
}

async function* files(db: Database, steps: readonly Step[]): AsyncGenerator<ArchiveFileRow> {
  const folders = steps.filter(({ row }) => row.file_count > 0).map(({ row }) => row.id)
  const [folder, another] = folders
  if (folder === undefined) return
  if (another !== undefined) {
    yield* await archiveFilesOf(db, folders)
    await yieldToEventLoop()
    return
  }
  let after: ArchiveFileRow | null = null
  do {
    const page: ArchiveFileRow[] = await archiveFilesAfter(db, folder, after, PAGE)
    yield* page
    await yieldToEventLoop()
    after = page.length < PAGE ? null : (page.at(-1) ?? null)
  } while (after !== null)
}
