import { setImmediate } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config.ts'
import type { CheckResult, CheckWork, Progress, ReadData } from '../../contents/check.ts'
import type { RepairBlob } from '../../contents/damage.ts'
import type { BackupRepair } from '../../contents/restore.ts'
import { systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import { formatSize, parseSize } from '../../domain/sizes.ts'
import type { WrittenPlace } from '../../settings.ts'
import { ProblemsFound } from '../failure.ts'
import { readRate } from '../options.ts'
import { count, printJson, printLines, printProblem, printTable } from '../output.ts'
import { linkAddress } from '../session.ts'
import { standardError } from '../step-progress.ts'
import { openingAt, PATH_STYLE, placeOf, REGION, readPlace, type StoreOptions } from './backup.ts'
import { stopWithServer } from './server-child.ts'

interface Options extends StoreOptions {
  readonly readData?: ReadData | true
  readonly rate?: number
  readonly dryRun?: true
  readonly markMany?: true
  readonly repair?: true
  readonly from?: WrittenPlace
  readonly removeOrphans?: true
  readonly database?: true
  readonly forServer?: true
  readonly json?: true
}

const NOTHING: ReadData = { kind: 'nothing' }
const EVERYTHING: ReadData = { kind: 'share', share: 1 }

/** Exits with 3 when it finds damage. */
export function checkCommand(check: Command, environment: Environment): void {
  check
    .description('look whether every byte that was promised is still there, with or without a running server')
    .option(
      '--read-data [share]',
      'also read contents and compare their hashes: all, or by chance a share (5%) or about so many bytes (100GB)',
      readShare,
    )
    .option('--rate <size>', 'read at most so many bytes a second (50MB)', readRate)
    .addOption(
      new Option('--dry-run', 'only look: mark nothing as damaged, and drop no mark').conflicts([
        'markMany',
        'repair',
        'removeOrphans',
      ]),
    )
    .option('--mark-many', 'mark damaged contents also when they are more than one in a hundred')
    .option(
      '--repair',
      'count again what does not add up, bring damaged contents back from the mirror, and say so first',
    )
    .addOption(
      new Option(
        '--from <backup>',
        'bring damaged contents back from a backup: a folder, or https://host/bucket',
      )
        .argParser(readPlace)
        .implies({ repair: true })
        .conflicts(['dryRun']),
    )
    .option(...REGION)
    .option(...PATH_STYLE)
    .option('--remove-orphans', 'remove contents that belong to no file and are older than a day')
    .addOption(
      new Option(
        '--database',
        'read every page of the SQLite database instead, and print {"damaged_parts"} with --json',
      ).conflicts(['readData', 'rate', 'dryRun', 'markMany', 'repair', 'from', 'removeOrphans']),
    )
    .addOption(new Option('--for-server').hideHelp())
    .option(
      '--json',
      'print {"checked_files","checked_bytes","damaged","orphans","sums","marked","cleared","repaired","removed_orphans"}',
    )
    .action((options: Options) => run(environment, options))
}

/** Throws InvalidArgumentError. */
function readShare(text: string): ReadData {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
  if (percent !== undefined && Number(percent) <= 100) return { kind: 'share', share: Number(percent) / 100 }
  const bytes = percent === undefined ? parseSize(text) : null
  if (bytes !== null) return { kind: 'bytes', bytes }
  throw new InvalidArgumentError('Allowed is a share such as 5%, or a size such as 100GB.')
}

async function run(environment: Environment, options: Options): Promise<void> {
  const { readData, rate, json } = options
  const config = loadConfig(environment)
  if (options.database) return checkPages(config, options)
  const { checkInstallation } = await import('../../contents/check.ts')
  const bar = progressLine()
  const repair = await openedRepair(config, options)
  const { mirrorRepair } = await import('../../contents/mirror-reading.ts')
  const onFailure = (error: unknown) =>
    bar.say(`The mirror: ${error instanceof Error ? error.message : String(error)}`)
  const mirror = mirrorRepair(config, onFailure)
  const sources = [mirror, repair?.repair].filter((repair) => repair !== undefined)
  const result = await checkInstallation({
    config,
    clock: systemClock,
    random: systemRandom,
    readData: readData === true ? EVERYTHING : (readData ?? NOTHING),
    tell: bar.tell,
    rate: rate ?? null,
    work: { ...workOf(options, bar.say), repair: (...wrong) => repairFromAny(sources, ...wrong) },
  }).finally(async () => {
    bar.end()
    await repair?.close()
  })
  if (json) printJson(jsonOf(result))
  else {
    const hasCopies = options.repair !== true || sources.length > 0
    printResult(result, (slug) => linkAddress(config, { path: `/d/${slug}` }), hasCopies)
  }
  if (result.refused > 0) printProblem(tooMany(result.refused))
  if (result.damaged.length > 0 || result.sums.length > 0) throw new ProblemsFound()
}

async function checkPages(config: Config, { json, forServer }: Options): Promise<void> {
  const { readPages } = await import('../../operations/database-check.ts')
  const stop = new AbortController()
  const input = forServer ? stopWithServer(stop) : null
  const line = progressLine()
  const parts = await readPages(config, async (table) => {
    line.show(`reading ${table}`)
    await setImmediate()
    stop.signal.throwIfAborted()
  }).finally(() => {
    line.end()
    input?.end()
  })
  if (json) printJson({ damaged_parts: parts })
  else if (parts.length === 0) printLines('The database: every page can be read.')
  else {
    printTable(
      ['PART', 'KIND', 'REASON'],
      parts.map(({ name, kind, reason }) => [name ?? '-', kind, reason]),
    )
    printLines('What to do: docs/operations/disaster.md')
  }
  if (parts.length > 0) throw new ProblemsFound()
}

/** From the first second copy that has the bytes. */
async function repairFromAny(
  sources: readonly RepairBlob[],
  ...wrong: Parameters<RepairBlob>
): Promise<boolean> {
  for (const repair of sources) if (await repair(...wrong)) return true
  return false
}

async function openedRepair(config: Config, options: Options): Promise<BackupRepair | null> {
  if (options.from === undefined) return null
  const { openBackupRepair } = await import('../../contents/restore.ts')
  return openBackupRepair({
    ...(await openingAt(placeOf(options.from, options, config), config)),
    signal: new AbortController().signal,
  })
}

function workOf(
  { dryRun, markMany, repair, removeOrphans }: Options,
  announce: (line: string) => void,
): CheckWork {
  const marks = markMany ? 'many' : 'few'
  return {
    marks: dryRun ? 'none' : marks,
    repairs: repair === true,
    removesOrphans: removeOrphans === true,
    announce,
  }
}

function tooMany(count: number): string {
  return `${count} contents would be marked as damaged, which is more than one in a hundred, so none was marked. Look first whether the store is the right one and all of it is there; then run this again with --mark-many.`
}

function jsonOf(result: CheckResult) {
  return {
    checked_files: result.checkedFiles,
    checked_bytes: result.checkedBytes,
    damaged: result.damaged.map(({ isRepaired, ...file }) => file),
    orphans: result.orphans,
    sums: result.sums,
    marked: result.marked,
    cleared: result.cleared,
    repaired: result.repaired,
    removed_orphans: result.removedOrphans,
  }
}

export const REASONS = {
  missing: 'its bytes are gone',
  size: 'its bytes have another size',
  hash: 'its bytes have changed',
  unreadable: 'the disk cannot read its bytes',
} as const

/** `hasCopies`: false where a repair was requested but there is no second copy. */
function printResult(result: CheckResult, linkOf: (slug: string) => string, hasCopies: boolean): void {
  const { checkedFiles, checkedContents, checkedBytes, damaged, sums, repaired } = result
  const read = checkedBytes > 0 ? `, and read ${formatSize(checkedBytes)}` : ''
  printLines(`Looked at ${count(checkedFiles, 'file')} with ${count(checkedContents, 'content')}${read}.`)
  if (damaged.length > 0) {
    printLines('', damaged.length === 1 ? '1 file is damaged:' : `${damaged.length} files are damaged:`)
    printTable(
      ['LINK', 'OWNER', 'NAME', 'WHAT IS WRONG', 'CONTENT'],
      damaged.map(({ slug, owner, name, reason, key, isRepaired }) => [
        linkOf(slug),
        owner,
        name,
        isRepaired ? `${REASONS[reason]}; put right` : REASONS[reason],
        key,
      ]),
    )
  }
  if (damaged.some(({ isRepaired }) => !isRepaired)) {
    printLines(
      '',
      hasCopies
        ? 'Bring the content back from the mirror (--repair) or a backup (--from), or upload the same file again.'
        : 'There is no mirror, so --repair alone brings no content back: name a backup with --from, or upload the same file again.',
    )
  }
  printMarks(result)
  if (sums.length > 0) printLines('', 'These do not add up:', ...sums.map((line) => `  ${line}`))
  if (repaired.length > 0) printLines('', 'Put right:', ...repaired.map((line) => `  ${line}`))
  printOrphans(result)
  if (damaged.length === 0 && sums.length === 0) printLines('All is well.')
}

function printMarks({ marked, cleared }: CheckResult): void {
  if (marked > 0) {
    printLines(
      '',
      `From now on ${count(marked, 'content')} cannot be downloaded, because ${marked === 1 ? 'it is' : 'they are'} marked as damaged.`,
    )
  }
  if (cleared > 0) printLines('', `Sound again, and sent again: ${count(cleared, 'content')}.`)
}

function printOrphans({ orphans, removedOrphans }: CheckResult): void {
  if (orphans.length === 0) return
  printLines(
    '',
    `In the store ${count(orphans.length, 'content')} ${orphans.length === 1 ? 'belongs' : 'belong'} to no file, which does no harm but takes up space.`,
  )
  if (removedOrphans.length > 0) printLines(`Removed: ${removedOrphans.length}.`)
}

/** A line that is overwritten on a terminal; elsewhere none. */
function progressLine() {
  const { rewrites, columns, write } = standardError
  let width = 0
  function clear(): void {
    if (width > 0) write(`\r${''.padEnd(width)}\r`)
    width = 0
  }
  function show(all: string): void {
    if (!rewrites) return
    const text = all.slice(0, Math.max(0, columns()))
    write(`\r${text.padEnd(width)}`)
    width = text.length
  }
  return {
    show,
    tell({ contents, of, bytesRead }: Progress) {
      show(`${contents} of ${of} contents${bytesRead > 0 ? `, ${formatSize(bytesRead)} read` : ''}`)
    },
    say(line: string) {
      clear()
      printProblem(line)
    },
    end: clear,
  }
}
