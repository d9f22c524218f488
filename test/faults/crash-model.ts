/** What must be true of a server after a crash, from what it had acknowledged before. */
import { type Caller, type ListedFile, readBack, UnexpectedAnswer } from '../support/clients/caller.ts'
import { type ResumableUpload, settleResumable } from './crash-resumable.ts'

export interface ExpectedFile {
  readonly name: string
  readonly size: number
  readonly sha256: string
  /** Folders it may be in, `root` for none: one, or two while a move has no answer. */
  places: readonly string[]
  doubt: Doubt
}

/** A delete that has no answer: none, of the file by itself, or of the folder with this identifier. */
export type Doubt = 'none' | 'itself' | { readonly folder: string }

/** An upload that has no answer: its file may be there or not, but not half. */
export type PendingFile = Pick<ExpectedFile, 'name' | 'size' | 'sha256'> & { readonly folder: string }

export interface ExpectedFolder {
  readonly name: string
  /** A delete of it has no answer. */
  doubted: boolean
}

export interface CrashModel {
  /** By slug. */
  readonly files: Map<string, ExpectedFile>
  /** By identifier. */
  readonly folders: Map<string, ExpectedFolder>
  /** By name; names are never used twice. */
  readonly pendingFiles: Map<string, PendingFile>
  /** By path on the server. */
  readonly resumable: Map<string, ResumableUpload>
  /** Slugs of unfinished uploads that may be there, and that the caller looks at. */
  readonly arriving: Set<string>
  /** Names of folders whose creation has no answer. */
  readonly pendingFolders: Set<string>
  /** Slugs whose delete was acknowledged since the last look. */
  readonly deleted: Set<string>
}

export function emptyModel(): CrashModel {
  return {
    files: new Map(),
    folders: new Map(),
    pendingFiles: new Map(),
    resumable: new Map(),
    arriving: new Set(),
    pendingFolders: new Set(),
    deleted: new Set(),
  }
}

/**
 * Compares the server with the model, reads every file back, and makes what was in doubt certain: what the server
 * now says is what it must say from here on. Returns what is wrong, empty when all is well.
 */
export async function reconcile(model: CrashModel, server: Caller): Promise<string[]> {
  const problems: string[] = []
  const folders = new Map((await server.folders()).map(({ id, name }) => [id, name]))
  problems.push(...settleFolders(model, folders))
  problems.push(...(await settleResumable(model, server)))
  const listed = await server.files()
  problems.push(...settleFiles(model, listed, folders))
  problems.push(...(await readAll(model, server)))

  const account = await server.account()
  const sum = listed.reduce((total, { size }) => total + size, 0)
  if (account.storage_used !== sum)
    problems.push(`storage_used is ${account.storage_used}, the files have ${sum}`)
  if (account.files_count !== listed.length) {
    problems.push(`files_count is ${account.files_count}, the list has ${listed.length}`)
  }
  if (account.folders_count !== folders.size) {
    problems.push(`folders_count is ${account.folders_count}, the list has ${folders.size}`)
  }
  for (const slug of model.deleted) {
    if ((await statusOf(() => server.detail(slug))) !== 404) problems.push(`${slug} was deleted and answers`)
  }
  model.deleted.clear()
  return problems
}

function settleFolders(model: CrashModel, listed: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  for (const [id, folder] of model.folders) {
    if (listed.has(id)) {
      folder.doubted = false
      continue
    }
    if (!folder.doubted) problems.push(`folder ${folder.name} was acknowledged and is lost`)
    model.folders.delete(id)
  }
  for (const [id, name] of listed) {
    if (model.folders.has(id)) continue
    if (!model.pendingFolders.has(name)) problems.push(`folder ${name} is there and should not be`)
    model.folders.set(id, { name, doubted: false })
  }
  model.pendingFolders.clear()
  return problems
}

function settleFiles(
  model: CrashModel,
  listed: readonly ListedFile[],
  folders: ReadonlyMap<string, string>,
): string[] {
  const problems: string[] = []
  const seen = new Set(listed.map(({ slug }) => slug))
  for (const [slug, file] of model.files) {
    if (seen.has(slug)) continue
    if (file.doubt === 'none') problems.push(`${file.name} was acknowledged and is lost`)
    else if (file.doubt !== 'itself' && folders.has(file.doubt.folder)) {
      problems.push(`${file.name} is gone, though the delete of its folder did not happen`)
    }
    model.files.delete(slug)
  }
  for (const { slug, name, size, folder } of listed) {
    const known = model.files.get(slug) ?? adopt(model, slug, name)
    if (known === null) {
      problems.push(
        `${name} (${slug}) is there and should not be${model.deleted.has(slug) ? ': it was deleted' : ''}`,
      )
      continue
    }
    if (known.name !== name || known.size !== size) {
      problems.push(`${known.name} of ${known.size} bytes is listed as ${name} of ${size}`)
    }
    if (!known.places.includes(folder)) {
      problems.push(`${name} is in ${folder} and should be in ${known.places.join(' or ')}`)
    }
    if (folder !== 'root' && !folders.has(folder))
      problems.push(`${name} is in ${folder}, which is not listed`)
    known.places = [folder]
    known.doubt = 'none'
  }
  model.pendingFiles.clear()
  return problems
}

/** An upload whose answer never came, and which happened all the same. */
function adopt(model: CrashModel, slug: string, name: string): ExpectedFile | null {
  const pending = model.pendingFiles.get(name)
  if (pending === undefined) return null
  const { folder, ...content } = pending
  const file: ExpectedFile = { ...content, places: [folder], doubt: 'none' }
  model.files.set(slug, file)
  return file
}

async function readAll(model: CrashModel, server: Caller): Promise<string[]> {
  const problems: string[] = []
  const left = [...model.files]
  const reader = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [slug, { name, size, sha256 }] = next
      try {
        const read = await readBack(server.url, slug)
        if (read.sha256 !== sha256)
          problems.push(`${name} has ${read.size} other bytes than the ${size} sent`)
      } catch (error) {
        problems.push(`${name} cannot be read: ${error}`)
      }
    }
  }
  await Promise.all([reader(), reader(), reader(), reader()])
  return problems
}

async function statusOf(call: () => Promise<unknown>): Promise<number> {
  try {
    await call()
    return 200
  } catch (error) {
    if (error instanceof UnexpectedAnswer) return error.status
    throw error
  }
}
