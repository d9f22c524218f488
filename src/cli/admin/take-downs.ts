import { type Command, InvalidArgumentError } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { COMMAND_LINE } from '../../domain/audit.ts'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { isSha256, parseFileIdentifier, type ReportId, type Sha256 } from '../../domain/ids.ts'
import type { Administration } from '../../operations/administration.ts'
import { withAdministration } from '../administration.ts'
import { readNumber } from '../options.ts'
import { printJson, printLines, printTable } from '../output.ts'

interface TakenDown {
  readonly sha256: Sha256
  readonly files: number
}

interface What {
  readonly file?: string
  readonly sha256?: Sha256
  readonly json?: true
}

export function takeDownCommand(takeDown: Command, environment: Environment): void {
  takeDown
    .description('remove every file with these contents, and refuse the contents from then on')
    .argument('[number...]', 'reports, as the list shows them', readNumbers)
    .option('--file <file>', 'the content of a file: its slug, UUID or number')
    .option('--sha256 <hash>', 'a content by its SHA-256, on this server or not', readSha256)
    .option('--json', 'print a JSON array of {"sha256","files"}')
    .action((reports: readonly ReportId[], what: What) => takeAllDown(environment, reports, what))
}

export function refusedCommands(admin: Command, environment: Environment): void {
  admin
    .command('refused')
    .description('list the contents that were taken down and are refused')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: true }) => listRefused(environment, json === true))
  admin
    .command('allow')
    .description('let a content be uploaded again; files that were removed are not restored')
    .argument('<hash>', 'its SHA-256', readSha256)
    .action((sha256: Sha256) => allow(environment, sha256))
}

function readNumbers(text: string, before: readonly ReportId[] | undefined): readonly ReportId[] {
  return [...(before ?? []), readNumber(text) as ReportId]
}

/** Throws InvalidArgumentError. */
function readSha256(text: string): Sha256 {
  const lower = text.toLowerCase()
  if (isSha256(lower)) return lower
  throw new InvalidArgumentError('Allowed are 64 hexadecimal characters.')
}

async function takeDownEach(
  takeDowns: Administration['takeDowns'],
  reports: readonly ReportId[],
  { file, sha256 }: What,
): Promise<TakenDown[]> {
  const taken: TakenDown[] = []
  for (const report of reports) taken.push(await takeDowns.reported(COMMAND_LINE, report))
  if (file !== undefined) taken.push(await takeDowns.file(COMMAND_LINE, parseFileIdentifier(file)))
  if (sha256 !== undefined) taken.push(await takeDowns.content(COMMAND_LINE, sha256))
  return taken
}

function takeAllDown(environment: Environment, reports: readonly ReportId[], what: What): Promise<void> {
  return withAdministration(environment, async ({ takeDowns }) => {
    const taken = await takeDownEach(takeDowns, reports ?? [], what)
    if (taken.length === 0) {
      throw new Refusal('INVALID_REQUEST', 'Name reports by their numbers, or use --file or --sha256')
    }
    if (what.json) return printJson(taken)
    for (const { sha256, files } of taken) {
      printLines(`${sha256} is taken down: ${files} ${files === 1 ? 'file is' : 'files are'} gone.`)
    }
  })
}

const ALL = 1_000_000

function listRefused(environment: Environment, json: boolean): Promise<void> {
  return withAdministration(environment, async ({ takeDowns }) => {
    const { contents } = await takeDowns.refused(1, ALL)
    const rows = contents.map(({ sha256, refused_at, files }) => ({
      sha256,
      refused_at: timestamp(refused_at),
      files,
    }))
    if (json) return printJson(rows)
    printTable(
      ['SHA-256', 'REFUSED', 'FILES'],
      rows.map(({ sha256, refused_at, files }) => [sha256, refused_at, String(files)]),
    )
  })
}

function allow(environment: Environment, sha256: Sha256): Promise<void> {
  return withAdministration(environment, async ({ takeDowns }) => {
    await takeDowns.allow(COMMAND_LINE, sha256)
    printLines(`${sha256} may be uploaded again.`)
  })
}
