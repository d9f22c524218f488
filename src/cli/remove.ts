import type { Command } from 'commander'
import { ClientError } from '../client/failure.ts'
import { parseRemoteName } from '../client/remote-names.ts'
import { RemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config/environment.ts'
import { isInteractive, promptLine } from './prompt.ts'
import { asClient, openApi, type ServerOption } from './session.ts'
import { count } from './words.ts'

interface Options extends ServerOption {
  readonly yes?: true
}

/** Asks for confirmation: deletion is permanent. */
export function removeCommand(remove: Command, environment: Environment): void {
  remove
    .description('delete files, and folders with everything in them, for good')
    .argument('<what...>', 'links, slugs, UUIDs, numbers, folder identifiers or paths')
    .option('-y, --yes', 'do not ask for confirmation; required where there is no terminal')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((words: string[], options: Options) => {
      if (!options.yes && !isInteractive())
        remove.error('error: there is no terminal to ask for confirmation; add --yes.')
      return asClient(() => run(environment, words, options))
    })
}

async function run(environment: Environment, words: readonly string[], options: Options): Promise<void> {
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
