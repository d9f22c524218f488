import type { Command } from 'commander'
import type { FileItem, FolderItem } from '../client/answers.ts'
import type { Api, FileFilter } from '../client/api.ts'
import { ClientError, isAnswer } from '../client/failure.ts'
import { parseRemoteName, type RemoteEntry, type RemoteName, RemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config/environment.ts'
import { formatSize } from '../domain/sizes.ts'
import { sortedByName } from '../domain/sort-key.ts'
import { count, printJson, printLines, printTable, shortTime } from './output.ts'
import { isInteractive, promptLine } from './prompt.ts'
import { asClient, openApi, type ServerOption } from './session.ts'

interface Format extends ServerOption {
  readonly json?: true
}

export function listCommand(list: Command, environment: Environment): void {
  list
    .description('list what is in a folder')
    .argument('[folder]', 'an identifier, a link or a path such as /photos', '/')
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((folder: string, options: Format) => asClient(() => ls(environment, folder, options)))
}

export function searchCommand(search: Command, environment: Environment): void {
  search
    .description('list the files whose name contains a text, ignoring case')
    .argument('<text>')
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((text: string, options: Format) => asClient(() => find(environment, text, options)))
}

async function ls(environment: Environment, text: string, { json, ...options }: Format): Promise<void> {
  const api = await openApi(environment, options)
  const folder = await new RemoteTree(api).folder(parseRemoteName(text))
  const filter: FileFilter = { folder, sort: 'name', order: 'asc' }
  const folders = sortedByName(await api.subfolders(folder), ({ name }) => name)
  if (json) {
    for (const item of folders) printJson({ kind: 'folder', ...item })
    for await (const file of api.files(filter)) printJson({ kind: 'file', ...file })
    return
  }
  const files = await Array.fromAsync(api.files(filter))
  const rows = [...folders.map((item) => folderRow(api.server.url, item)), ...files.map(fileRow)]
  if (rows.length > 0) printTable(['NAME', 'SIZE', 'SINCE', 'LINK'], rows)
}

async function find(environment: Environment, text: string, { json, ...options }: Format): Promise<void> {
  const api = await openApi(environment, options)
  const found = api.files({ search: text })
  if (json) {
    for await (const file of found) printJson({ kind: 'file', ...file })
    return
  }
  const files = await Array.fromAsync(found)
  if (files.length > 0) printTable(['NAME', 'SIZE', 'SINCE', 'LINK'], files.map(fileRow))
}

function folderRow(server: string, { id, name, created_at }: FolderItem): string[] {
  return [`${name}/`, '', shortTime(created_at), `${server}/f/${id}`]
}

function fileRow({ name, size, created_at, url }: FileItem): string[] {
  return [name, formatSize(size), shortTime(created_at), url]
}

interface MakeFolderOptions extends ServerOption {
  readonly parents?: true
  readonly private?: true
  readonly password?: string
  readonly json?: true
}

export function makeFolderCommand(mkdir: Command, environment: Environment): void {
  mkdir
    .description('make a folder and print its link')
    .argument('<path>', 'where it is to be, such as /photos/2026')
    .option('-p, --parents', 'make missing folders above it too; folders that exist are no error')
    .option('--private', 'visible to you alone')
    .option('--password <password>', 'the password that others need to open it')
    .option('--json', 'print a JSON object')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((path: string, options: MakeFolderOptions) =>
      asClient(() => runMakeFolder(environment, path, options)),
    )
}

async function runMakeFolder(
  environment: Environment,
  path: string,
  options: MakeFolderOptions,
): Promise<void> {
  const name = parseRemoteName(path.startsWith('/') ? path : `/${path}`)
  const last = name.kind === 'path' ? name.names.at(-1) : undefined
  if (name.kind !== 'path' || last === undefined)
    throw new ClientError('name the folder to make, such as /photos.')
  const api = await openApi(environment, options)
  const tree = new RemoteTree(api)
  const above = name.names.slice(0, -1)
  const parent = options.parents
    ? await tree.ensure('root', above)
    : await tree.folder({ kind: 'path', names: above })
  const more = {
    ...(options.private ? ({ public: 0 } as const) : {}),
    ...(options.password === undefined ? {} : { password: options.password }),
  }
  const identifier = await api.createFolder(last, parent, more).catch((error) => {
    if (options.parents && isAnswer(error, 409, 'DUPLICATE_NAME')) return tree.ensure(parent, [last])
    throw error
  })
  const url = `${api.server.url}/f/${identifier}`
  if (options.json) printJson({ kind: 'folder', id: identifier, name: last, url })
  else printLines(url)
}

export function moveCommand(move: Command, environment: Environment): void {
  move
    .description('move files and folders into a folder, or give one of them another name')
    .argument(
      '<what...>',
      'links, slugs, identifiers or paths, and last where they go: a folder, / or a new path',
    )
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((words: string[], options: ServerOption) => {
      const to = words.at(-1)
      if (words.length < 2 || to === undefined) move.error('error: name what to move, and then where to.')
      return asClient(() => runMove(environment, words.slice(0, -1), to, options))
    })
}

async function runMove(
  environment: Environment,
  from: readonly string[],
  to: string,
  options: ServerOption,
): Promise<void> {
  const api = await openApi(environment, options)
  const tree = new RemoteTree(api)
  // Resolves every argument before anything is moved.
  const things: RemoteEntry[] = []
  for (const text of from) things.push(await tree.find(parseRemoteName(text)))
  const target = await readTarget(tree, parseRemoteName(to), things.length)
  for (const thing of things) await move(api, thing, target)
}

interface Target {
  readonly folder: string
  readonly name: string | null
}

async function readTarget(tree: RemoteTree, name: RemoteName, things: number): Promise<Target> {
  const thing = await tree.look(name)
  if (thing?.kind === 'root') return { folder: 'root', name: null }
  if (thing?.kind === 'folder') return { folder: thing.folder.id, name: null }
  if (thing?.kind === 'file')
    throw new ClientError('a file of that name exists; name a folder or a new path.')
  const last = name.kind === 'path' ? name.names.at(-1) : undefined
  if (name.kind !== 'path' || last === undefined || things !== 1) {
    throw new ClientError('there is no such folder to move to; make it with "holdfast mkdir".')
  }
  return { folder: await tree.folder({ kind: 'path', names: name.names.slice(0, -1) }), name: last }
}

async function move(api: Api, thing: RemoteEntry, { folder, name }: Target): Promise<void> {
  switch (thing.kind) {
    case 'root':
      throw new ClientError('the top level cannot be moved.')
    case 'folder': {
      const { id, parent } = thing.folder
      if ((parent ?? 'root') !== folder) await api.moveFolder(id, folder)
      if (name !== null) await api.changeFolder(id, name)
      return
    }
    case 'file':
      await api.moveFile(thing.identifier, folder)
      if (name !== null) await api.renameFile(thing.identifier, name)
  }
}

interface RemoveOptions extends ServerOption {
  readonly yes?: true
}

/** Asks for confirmation: deletion is permanent. */
export function removeCommand(remove: Command, environment: Environment): void {
  remove
    .description('delete files, and folders with everything in them, for good')
    .argument('<what...>', 'links, slugs, UUIDs, numbers, folder identifiers or paths')
    .option('-y, --yes', 'do not ask for confirmation; required where there is no terminal')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((words: string[], options: RemoveOptions) => {
      if (!options.yes && !isInteractive())
        remove.error('error: there is no terminal to ask for confirmation; add --yes.')
      return asClient(() => runRemove(environment, words, options))
    })
}

async function runRemove(
  environment: Environment,
  words: readonly string[],
  options: RemoveOptions,
): Promise<void> {
  const api = await openApi(environment, options)
  const tree = new RemoteTree(api)
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const text of words) {
    const thing = await tree.find(parseRemoteName(text))
    if (thing.kind === 'root') throw new ClientError('the top level cannot be deleted; name what is in it.')
    if (thing.kind === 'file') files.add(thing.identifier)
    else folders.add(thing.folder.id)
  }
  if (!options.yes && !(await isMeant(files.size, folders.size))) throw new ClientError('nothing is deleted.')
  const deletions = [
    ...(files.size > 0 ? [await api.deleteFiles([...files])] : []),
    ...(folders.size > 0 ? [await api.deleteFolders([...folders])] : []),
  ]
  const failed = deletions.reduce((sum, { failed_deletes }) => sum + failed_deletes, 0)
  if (failed > 0) throw new ClientError(`${failed} of ${files.size + folders.size} could not be deleted.`)
}

async function isMeant(files: number, folders: number): Promise<boolean> {
  const what = [
    ...(files > 0 ? [count(files, 'file')] : []),
    ...(folders > 0 ? [`${count(folders, 'folder')} with everything inside`] : []),
  ]
  return /^y(es)?$/i.test((await promptLine(`Delete ${what.join(' and ')}, for good? [y/N] `)).trim())
}
