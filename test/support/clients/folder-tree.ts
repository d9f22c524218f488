import { z } from 'zod'
import type { Api } from './api.ts'

const folderList = z.object({
  data: z.array(
    z.object({ id: z.string(), name: z.string(), parent: z.string().nullable(), file_count: z.number() }),
  ),
})
const fileList = z.object({
  data: z.array(z.object({ id: z.number(), url: z.string(), size: z.number(), folder_id: z.string() })),
  pagination: z.object({ total: z.number(), pages: z.number() }),
})
const folderFiles = z.object({ data: z.array(z.object({ url: z.string() })) })
const account = z.object({
  data: z.object({
    storage_used: z.number(),
    storage_in_bin: z.number(),
    files_count: z.number(),
    folders_count: z.number(),
  }),
})

/** An account as the API shows it. Places are identifiers, or `root` for the top level. */
export interface Tree {
  readonly folders: ReadonlyMap<string, { name: string; parent: string; fileCount: number }>
  /** By slug. */
  readonly files: ReadonlyMap<string, { size: number; folder: string }>
  readonly account: z.infer<typeof account>['data']
  /** Total according to `pagination`. */
  readonly listed: number
}

/** Reads all folders and files of the caller. */
export async function readTree(caller: Api): Promise<Tree> {
  const folders = folderList.parse((await caller.get('/api/v1/folders')).body).data
  const files: z.infer<typeof fileList>['data'] = []
  let listed = 0
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const list = fileList.parse((await caller.get(`/api/v1/files?per_page=100&page=${page}`)).body)
    files.push(...list.data)
    pages = list.pagination.pages
    listed = list.pagination.total
  }
  return {
    folders: new Map(
      folders.map(({ id, name, parent, file_count }) => [
        id,
        { name, parent: parent ?? 'root', fileCount: file_count },
      ]),
    ),
    files: new Map(files.map(({ url, size, folder_id: folder }) => [slugOf(url), { size, folder }])),
    account: account.parse((await caller.get('/api/v1/account')).body).data,
    listed,
  }
}

/** Slugs of the files that are listed for the folder, or for `root`. */
export async function filesIn(caller: Api, place: string): Promise<string[]> {
  const { data } = folderFiles.parse((await caller.get(`/api/v1/folder/${place}/files`)).body)
  return data.map(({ url }) => slugOf(url))
}

/**
 * Inconsistencies within a tree: cycles, missing parents or folders, duplicate names among siblings, wrong
 * counts. Empty when there are none.
 */
export function flaws(tree: Tree): string[] {
  const found: string[] = []
  const siblings = new Set<string>()
  for (const [id, { name, parent, fileCount }] of tree.folders) {
    if (!leadsToTheTop(tree, id)) found.push(`folder ${id} does not lead up to the top level`)
    const place = `${parent}/${name}`
    if (siblings.has(place)) found.push(`two folders are ${place}`)
    siblings.add(place)
    const inside = [...tree.files.values()].filter((file) => file.folder === id).length
    if (inside !== fileCount) found.push(`folder ${id} counts ${fileCount} files and has ${inside}`)
  }
  for (const [slug, { folder }] of tree.files) {
    if (folder !== 'root' && !tree.folders.has(folder))
      found.push(`file ${slug} is in ${folder}, which is gone`)
  }
  const counted = {
    storage_used:
      tree.account.storage_in_bin + [...tree.files.values()].reduce((sum, file) => sum + file.size, 0),
    files_count: tree.files.size,
    folders_count: tree.folders.size,
  }
  for (const key of ['storage_used', 'files_count', 'folders_count'] as const) {
    if (tree.account[key] !== counted[key]) found.push(`${key} is ${tree.account[key]}, not ${counted[key]}`)
  }
  if (tree.listed !== tree.files.size)
    found.push(`the list says ${tree.listed} files, not ${tree.files.size}`)
  return found
}

function leadsToTheTop(tree: Tree, id: string): boolean {
  let place: string | undefined = id
  for (let steps = 0; steps <= tree.folders.size; steps += 1) {
    if (place === 'root') return true
    if (place === undefined) return false
    place = tree.folders.get(place)?.parent
  }
  return false
}

function slugOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
