import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import { NOTICE_LEVELS, type NoticeLevel } from '../../domain/notice.ts'
import { withAdministration } from '../administration.ts'
import { timeOf } from '../options.ts'
import { printJson, printLines, printPairs } from '../output.ts'

interface SetOptions {
  readonly level: NoticeLevel
  readonly from?: number
  readonly until?: number
}

export function noticeCommand(notice: Command, environment: Environment): void {
  notice.description('show or remove a notice on all pages')
  notice
    .command('show')
    .description('print the current notice')
    .option('--json', 'print {"text","level","from","until"}, or null')
    .action(({ json }: { json?: true }) => show(environment, json === true))
  notice
    .command('set')
    .description('show a notice, replacing any other')
    .argument('<text>', 'plain text, 500 characters at most')
    .addOption(new Option('--level <level>', 'how it looks').choices([...NOTICE_LEVELS]).default('info'))
    .option('--from <time>', 'show it from then on, such as 2030-01-31T20:00Z', readTime)
    .option('--until <time>', 'show it until then', readTime)
    .action((text: string, options: SetOptions) => set(environment, text, options))
  notice
    .command('clear')
    .description('remove the notice')
    .action(() => clear(environment))
}

/** Milliseconds since the epoch. Throws InvalidArgumentError. */
function readTime(text: string): number {
  const time = timeOf(text)
  if (time !== null) return time
  throw new InvalidArgumentError('Allowed is a time such as 2030-01-31T20:00Z, or a date.')
}

function show(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ notices }) => {
    const notice = await notices.get()
    if (json) return printJson(notice)
    if (notice === null) return printLines('There is no notice.')
    const { text, level, from, until } = notice
    printPairs([
      ['Text', text],
      ['Level', level],
      ['From', from ?? 'at once'],
      ['Until', until ?? 'it is taken away'],
    ])
  })
}

function set(environment: Environment, text: string, { level, from, until }: SetOptions): Promise<void> {
  return withAdministration(environment, async ({ notices }) => {
    await notices.set(COMMAND_LINE, { text, level, from: from ?? null, until: until ?? null })
    printLines('The notice appears on all pages within a few seconds of its time.')
  })
}

function clear(environment: Environment): Promise<void> {
  return withAdministration(environment, async ({ notices }) => {
    await notices.clear(COMMAND_LINE)
    printLines('The notice is removed.')
  })
}
