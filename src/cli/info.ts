import type { Command } from 'commander'
import type { AccountFields, FileDetailFields, FolderItem } from '../client/answers.ts'
import type { Api } from '../client/api.ts'
import { parseRemoteName, RemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config/environment.ts'
import { formatSize } from '../domain/sizes.ts'
import { printJson, printPairs } from './output.ts'
import { asClient, openApi, type ServerOption } from './session.ts'

interface Options extends ServerOption {
  readonly json?: true
}

export function infoCommand(info: Command, environment: Environment): void {
  info
    .description('show a file, a folder, or without an argument the account')
    .argument('[what]', 'a link, slug, UUID, number, folder identifier or path')
    .option('--json', 'print a JSON object')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((what: string | undefined, options: Options) => asClient(() => run(environment, what, options)))
}

async function run(environment: Environment, what: string | undefined, options: Options): Promise<void> {
  const api = await openApi(environment, options)
  const { shown, pairs } = what === undefined ? await accountInfo(api) : await thingInfo(api, what)
  if (options.json) printJson(shown)
  else printPairs(pairs)
}

interface Info {
  readonly shown: object
  readonly pairs: readonly (readonly [string, string])[]
}

async function accountInfo(api: Api): Promise<Info> {
  const account = await api.account()
  return { shown: { kind: 'account', server: api.server.url, ...account }, pairs: accountPairs(api, account) }
}

function accountPairs(api: Api, account: AccountFields): Info['pairs'] {
  const { username, storage_used, storage_limit, files_count, folders_count, api_requests_today } = account
  return [
    ['Server', api.server.url],
    ['Account', username],
    ['Storage', `${formatSize(storage_used)} of ${formatSize(storage_limit)}`],
    ['Files', String(files_count)],
    ['Folders', String(folders_count)],
    ['Requests today', String(api_requests_today)],
  ]
}

async function thingInfo(api: Api, what: string): Promise<Info> {
  const thing = await new RemoteTree(api).find(parseRemoteName(what))
  switch (thing.kind) {
    case 'root':
      return accountInfo(api)
    case 'folder':
      return { shown: { kind: 'folder', ...thing.folder }, pairs: folderPairs(api, thing.folder) }
    case 'file': {
      const file = await api.file(thing.identifier)
      return { shown: { kind: 'file', ...file }, pairs: filePairs(file) }
    }
  }
}

function folderPairs(api: Api, folder: FolderItem): Info['pairs'] {
  return [
    ['Folder', folder.name],
    ['Link', `${api.server.url}/f/${folder.id}`],
    ['Identifier', folder.id],
    ['Parent', folder.parent ?? 'top level'],
    ['Files', String(folder.file_count)],
    ['Visible', folder.public ? 'to everybody with the link' : 'to you alone'],
    ['Password', folder.has_password ? 'yes' : 'no'],
    ['Since', folder.created_at],
  ]
}

function filePairs(file: FileDetailFields): Info['pairs'] {
  return [
    ['File', file.name],
    ['Link', file.url],
    ['Size', `${formatSize(file.size)} (${file.size} bytes)`],
    ['Type', file.type],
    ['Folder', file.folder_id === 'root' ? 'top level' : file.folder_id],
    ['SHA-256', file.sha256],
    ['Since', file.created_at],
    ['Expires', file.expires_at === null ? 'never' : `${file.expires_at}, unless somebody looks at it`],
    ['Views', String(file.views)],
    ['Downloads', String(file.downloads)],
    ['UUID', file.uuid],
    ['Number', String(file.id)],
  ]
}
