import type { Command } from 'commander'
import type { LinkItem } from '../../client/answers.ts'
import type { WantedLink } from '../../client/api.ts'
import { ClientError } from '../../client/failure.ts'
import { parseRemoteName, RemoteTree } from '../../client/remote-tree.ts'
import type { Environment } from '../../config/environment.ts'
import { systemClock, timestamp } from '../../domain/clock.ts'
import { readCount, readExpiry } from '../options.ts'
import { printJson, printLines, printProblem } from '../output.ts'
import { asClient, openApi, type ServerOption } from '../session.ts'

export interface TermOptions extends ServerOption {
  /** Milliseconds since the epoch. */
  readonly until?: number
  readonly password?: string
  readonly name?: string
  readonly message?: string
  readonly slug?: string
  readonly json?: true
}

interface Options extends TermOptions {
  readonly downloads?: number
}

export function shareCommand(share: Command, environment: Environment): void {
  termOptions(
    share
      .description('make one link for files and folders, with an end, a number of downloads or a password')
      .argument('<what...>', 'links, slugs, UUIDs, numbers, folder identifiers or paths')
      .option(
        '--downloads <number>',
        'how many visitors may download it; 1: it is over after the first',
        readCount,
      ),
  ).action((words: string[], options: Options) => asClient(() => run(environment, words, options)))
}

export function termOptions(command: Command): Command {
  return command
    .option(
      '--until <when>',
      'when it ends: after a number of days (7d), or on a date (2030-01-31)',
      (text) => readExpiry(text, systemClock.now()),
    )
    .option('--password <password>', 'the password that others need to open it')
    .option('--name <name>', 'a title on its page')
    .option('--message <text>', 'what its page says')
    .option('--slug <slug>', 'the end of its address; without it, one that nobody can guess')
    .option('--json', 'print a JSON object')
    .option('--server <url>', 'use this server instead of the one of the last login')
}

async function run(environment: Environment, words: readonly string[], options: Options): Promise<void> {
  const api = await openApi(environment, options)
  const { downloads } = options
  const limit = downloads === undefined ? {} : { max_downloads: downloads }
  const link = await api.makeLink({
    ...(await targets(new RemoteTree(api), words)),
    ...readTerms(options),
    ...limit,
  })
  printLink(link, options)
  if (!options.json && process.stderr.isTTY) {
    printProblem(
      'Whoever has it can open this and all that is inside, also what is private or has a password.',
    )
  }
}

export function printLink(link: LinkItem, { json }: Pick<TermOptions, 'json'>): void {
  if (json) printJson(link)
  else printLines(link.url)
}

async function targets(
  tree: RemoteTree,
  words: readonly string[],
): Promise<Pick<WantedLink, 'files' | 'folders'>> {
  const [files, folders] = [new Set<string>(), new Set<string>()]
  for (const text of words) {
    const thing = await tree.find(parseRemoteName(text))
    if (thing.kind === 'root') throw new ClientError('the top level cannot be shared; name what is in it.')
    if (thing.kind === 'file') files.add(thing.identifier)
    else folders.add(thing.folder.id)
  }
  return { files: [...files], folders: [...folders] }
}

export function readTerms({
  until,
  password,
  name,
  message,
  slug,
}: TermOptions): Omit<WantedLink, 'files' | 'folders'> {
  return {
    ...(until === undefined ? {} : { ends_at: timestamp(until) }),
    ...(password === undefined ? {} : { password }),
    ...(name === undefined ? {} : { name }),
    ...(message === undefined ? {} : { message }),
    ...(slug === undefined ? {} : { slug }),
  }
}
