import type { Command } from 'commander'
import { ClientError, isAnswer } from '../client/failure.ts'
import { parseRemoteName } from '../client/remote-names.ts'
import { RemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config/environment.ts'
import { printJson, printLines } from './output.ts'
import { asClient, openApi, type ServerOption } from './session.ts'

interface Options extends ServerOption {
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
    .action((path: string, options: Options) => asClient(() => run(environment, path, options)))
}

async function run(environment: Environment, path: string, options: Options): Promise<void> {
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
