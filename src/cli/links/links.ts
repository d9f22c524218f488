import { type Command, Option } from 'commander'
import type { LinkItem, LinkLogItem } from '../../client/answers.ts'
import { parseLinkName } from '../../client/remote-tree.ts'
import type { Environment } from '../../config/environment.ts'
import { printJson, printTable, shortTime } from '../output.ts'
import { asClient, openApi, type ServerOption } from '../session.ts'

interface Options extends ServerOption {
  readonly revoke?: readonly string[]
  readonly log?: string
  readonly json?: true
}

export function linksCommand(links: Command, environment: Environment): void {
  links
    .description(
      'list the links that you have shared, with their downloads, or the log of one, or revoke some',
    )
    .option('--revoke <link...>', 'revoke these links, or slugs, instead: they stop working at once')
    .addOption(
      new Option(
        '--log <link>',
        'list what happened to this link, or slug, instead: when, what, how much',
      ).conflicts('revoke'),
    )
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((options: Options) => asClient(() => run(environment, options)))
}

async function run(environment: Environment, { revoke, log, json, ...options }: Options): Promise<void> {
  const api = await openApi(environment, options)
  if (revoke !== undefined) {
    const slugs = revoke.map(parseLinkName)
    for (const slug of slugs) await api.revokeLink(slug)
    return
  }
  if (log !== undefined) {
    await printLog(api.linkLog(parseLinkName(log)), { json })
    return
  }
  if (json) {
    for await (const link of api.links()) printJson(link)
    return
  }
  const found = await Array.fromAsync(api.links())
  if (found.length > 0) printTable(['NAME', 'STATE', 'DOWNLOADS', 'ENDS', 'LINK'], found.map(rowOf))
}

export async function printLog(
  events: AsyncIterable<LinkLogItem>,
  { json }: Pick<Options, 'json'>,
): Promise<void> {
  if (json) {
    for await (const event of events) printJson(event)
    return
  }
  const rows = (await Array.fromAsync(events)).map(logRowOf)
  if (rows.length > 0) printTable(['WHEN', 'WHAT', 'BYTES', 'FILE'], rows)
}

function rowOf({ title, state, ends_at, url, ...counts }: LinkItem): string[] {
  return [
    title,
    state === 'used_up' ? 'used up' : state,
    countOf(counts),
    ends_at === null ? '' : shortTime(ends_at),
    url,
  ]
}

/** Kinds as in the API, without the prefix `link.`. */
function logRowOf({ at, kind, times, reason, bytes, file, address }: LinkLogItem): string[] {
  const what = kind.replace(/^link\./, '').replaceAll('_', ' ')
  const more = [times > 1 ? `(${times})` : '', reason === null ? '' : `(${reason})`].filter(Boolean)
  return [
    shortTime(at),
    [what, ...more].join(' '),
    bytes === null ? '' : String(bytes),
    [file?.name ?? '', address === null ? '' : `from ${address}`].join(' ').trim(),
  ]
}

function countOf({
  downloads,
  max_downloads,
  uploads,
}: Pick<LinkItem, 'downloads' | 'max_downloads' | 'uploads'>) {
  if (uploads === null) return max_downloads === null ? String(downloads) : `${downloads} of ${max_downloads}`
  const { received_files, max_files } = uploads
  return max_files === null ? `${received_files} in` : `${received_files} of ${max_files} in`
}
