import type { Command } from 'commander'
import type { LinkItem } from '../../client/answers.ts'
import { parseLinkName } from '../../client/remote-names.ts'
import type { Environment } from '../../config/environment.ts'
import { printJson, printTable } from '../output.ts'
import { asClient, openApi, type ServerOption } from '../session.ts'
import { shortTime } from '../words.ts'

interface Options extends ServerOption {
  readonly revoke?: readonly string[]
  readonly json?: true
}

/** `holdfast links`: lists the links with terms, from newest to oldest, or takes some of them back. */
export function linksCommand(links: Command, environment: Environment): void {
  links
    .description('list the links that you have shared, with their downloads, or revoke some')
    .option('--revoke <link...>', 'revoke these links, or slugs, instead: they stop working at once')
    .option('--json', 'print one JSON object a line')
    .option('--server <url>', 'use this server instead of the one of the last login')
    .action((options: Options) => asClient(() => run(environment, options)))
}

async function run(environment: Environment, { revoke, json, ...options }: Options): Promise<void> {
  const api = await openApi(environment, options)
  if (revoke !== undefined) {
    const slugs = revoke.map(parseLinkName)
    for (const slug of slugs) await api.revokeLink(slug)
    return
  }
  if (json) {
    for await (const link of api.links()) printJson(link)
    return
  }
  const found = await Array.fromAsync(api.links())
  if (found.length > 0) printTable(['NAME', 'STATE', 'DOWNLOADS', 'ENDS', 'LINK'], found.map(rowOf))
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

/** Downloads, or of a link that takes uploads what came by it. */
function countOf({
  downloads,
  max_downloads,
  uploads,
}: Pick<LinkItem, 'downloads' | 'max_downloads' | 'uploads'>) {
  if (uploads == null) return max_downloads === null ? String(downloads) : `${downloads} of ${max_downloads}`
  const { received_files, max_files } = uploads
  return max_files === null ? `${received_files} in` : `${received_files} of ${max_files} in`
}
