import type { Command } from 'commander'
import type { Api } from '../client/api.ts'
import { ClientError } from '../client/failure.ts'
import { parseRemoteName, type RemoteName } from '../client/remote-names.ts'
import { type RemoteEntry, RemoteTree } from '../client/remote-tree.ts'
import type { Environment } from '../config/environment.ts'
import { asClient, openApi, type ServerOption } from './session.ts'

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
      return asClient(() => run(environment, words.slice(0, -1), to, options))
    })
}

async function run(
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
