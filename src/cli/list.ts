import type { Command } from 'commander'
import type { FileItem, FolderItem } from '../client/answers.ts'
import type { FileFilter } from '../client/api.ts'
import { parseRemoteName } from '../client/remote-names.ts'
import { RemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config/environment.ts'
import { formatSize } from '../domain/sizes.ts'
import { sortedByName } from '../domain/sort-key.ts'
import { printJson, printTable } from './output.ts'
import { asClient, openApi, type ServerOption } from './session.ts'
import { shortTime } from './words.ts'

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
