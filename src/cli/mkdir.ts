import type { Command } from 'commander'
import { ClientError, isAnswer } from '../client/failure.ts'
import { parseRemoteName } from '../client/remote-names.ts'
import { createRemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config.ts'
import { printJson, printLines } from './output.ts'
import { asClient, openApi, type ServerOption } from './session.ts'

interface Options extends ServerOption {
  readonly parents?: true
  readonly private?: true
  readonly password?: string
  readonly json?: true
}

/** `holdfast mkdir`: prints the link of the new folder. */
export function makeFolderCommand(mkdir: Command, environment: Environment): void {
  mkdir
    .description('make a folder and print its link')
    .argument('<path>', 'where it is to be, such as /photos/2026')
    .option('-p, --parents', 'make the folders above it too, and do nothing about those that are there')
    .option('--private', 'for your eyes alone')
    .option('--password <password>', 'what others need to look into it')
    .option('--json', 'print a JSON object')
    .option('--server <url>', 'another server than the one logged in to last')
    .action((path: string, options: Options) => asClient(() => run(environment, path, options)))
}

async function run(environment: Environment, path: string, options: Options): Promise<void> {
  const name = parseRemoteName(path.startsWith('/') ? path : `/${path}`)
  const last = name.kind === 'path' ? name.names.at(-1) : undefined
  if (name.kind !== 'path' || last === undefined)
    throw new ClientError('name the folder to be made, such as /photos.')
  const api = await openApi(environment, options)
  const tree = createRemoteTree(api)
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
