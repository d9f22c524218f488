/** What runs where and when: by the folder of a test file, the marks at its head and its size. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export type PairName = 'folder' | 'cluster'
/** Storage below the servers of a test. */
export const PAIRS = { folder: 'SQLite and a folder', cluster: 'PostgreSQL and S3, three nodes behind nginx' }

/** A test file on one pair. */
export interface Task {
  readonly file: string
  readonly pair: PairName
}

/** Test files that share a process. */
export interface Batch {
  readonly pair: PairName
  readonly files: readonly string[]
  /** A guess; the longest begin first. */
  readonly seconds: number
}

const REPOSITORY = join(import.meta.dir, '../..')

/** Line comments before the first import; after the colon is the reason, or what runs instead. */
const MARKS = {
  onlyInAll: '// Only in test:all: ',
  onlyOnFolder: '// Only on a folder: ',
  shortOnCluster: '// Also on the cluster in npm test.',
  ownProcess: '// A process of its own: ',
}

/** Folders of `test/server` whose files can run on the cluster, too, and do in `npm run test:long -- cluster`. */
const CAPABILITIES =
  /^test\/server\/(accounts|core|downloads|files|operations|pages|server|sharing|thumbnails|uploads)\//
/** Tests about the disk, or about durability. */
const ON_THE_DISK = /^test\/(faults|\w+\/(blobs|deploy|uploads\/resumable))\//
/** Files that watch their process, the disk or the machine. */
const ALONE = /^test\/((server|cluster)\/(blobs|database|deploy|runtime)|faults|fuzz|mutate|runner|worlds)\//

/** Seconds that a kilobyte of a test takes on an idle machine, roughly: the first that fits. */
const SECONDS_PER_KILOBYTE: readonly (readonly [RegExp, number])[] = [
  [/^test\/unit\//, 0.1],
  [/^test\/(faults|fuzz|worlds)\//, 3],
  [/^test\/browser\//, 2.4],
  [/\/(blobs|cli|client|operations|thumbnails)\//, 1.2],
  [/./, 0.4],
]
/** A cluster starts three nodes, and each test empties two services. */
const TIMES_ON_CLUSTER = 3
/** Files that `npm test` leaves out wait, or make many cases. */
const TIMES_IN_ALL = 2

/** Seconds of a batch at most; a file of half as many has a process of its own. */
const LONGEST = 60

export function testFiles(): string[] {
  return [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: REPOSITORY })].sort()
}

/** All runs of the files, also those that are seldom made. */
export function tasksOf(files: readonly string[]): Task[] {
  return files.flatMap((file) => [
    { file, pair: 'folder' },
    ...(canRunOnCluster(file) ? ([{ file, pair: 'cluster' }] as const) : []),
  ])
}

/** Whether `npm test` includes the run. */
export function isShort({ file, pair }: Task): boolean {
  return pair === 'cluster' ? hasMark(file, 'shortOnCluster') : !hasMark(file, 'onlyInAll')
}

/** Whether `npm run test:all` includes the run. */
export function isUsual({ file, pair }: Task): boolean {
  return pair === 'folder' || file.startsWith('test/cluster/')
}

/** Whether the run uses PostgreSQL or S3. */
export function needsServers({ file, pair }: Task): boolean {
  return pair === 'cluster' || isContract(file) || /^test\/(browser|faults|server\/cli)\//.test(file)
}

/** Whether the file needs a disk for its temporary folders, and not memory. */
export function needsDisk(file: string): boolean {
  return ON_THE_DISK.test(file)
}

/** Groups tasks into batches, longest first: starting a process costs more than many a file. Unless `isShared`, one each. */
export function batchesOf(tasks: readonly Task[], { isShared }: { readonly isShared: boolean }): Batch[] {
  const each = tasks.map(({ file, pair }) => ({ pair, files: [file], seconds: secondsOf({ file, pair }) }))
  const batches: Batch[] = []
  const open = new Map<string, Batch>()
  for (const one of each.sort((a, b) => b.seconds - a.seconds)) {
    const kind = isShared && one.seconds < LONGEST / 2 ? kindOf(one) : null
    const last = kind === null ? undefined : open.get(kind)
    if (kind === null) batches.push(one)
    else if (last === undefined || last.seconds + one.seconds > LONGEST) {
      if (last !== undefined) batches.push(last)
      open.set(kind, one)
    } else {
      const files = [...last.files, ...one.files]
      open.set(kind, { ...last, files, seconds: last.seconds + one.seconds })
    }
  }
  return [...batches, ...open.values()].sort((a, b) => b.seconds - a.seconds)
}

export function titleOf({ pair, files: [first, ...others] }: Batch): string {
  return `${pair} ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`
}

/** Batches of one kind may share a process; null for a file that has its own. */
function kindOf({ pair, files: [file = ''] }: Batch): string | null {
  if (ALONE.test(file) || hasMark(file, 'ownProcess')) return null
  const [, tier, folder = ''] = file.split('/')
  const part = ['cli', 'client'].includes(folder) ? folder : ''
  return [pair, tier, part, isContract(file), needsDisk(file)].join(' ')
}

function secondsOf({ file, pair }: Task): number {
  const rate = SECONDS_PER_KILOBYTE.find(([path]) => path.test(file))?.[1] ?? 0
  const times = (pair === 'cluster' ? TIMES_ON_CLUSTER : 1) * (hasMark(file, 'onlyInAll') ? TIMES_IN_ALL : 1)
  return (statSync(join(REPOSITORY, file)).size / 1024) * rate * times
}

function hasMark(file: string, mark: keyof typeof MARKS): boolean {
  const text = readFileSync(join(REPOSITORY, file), 'utf8')
  const head = text.slice(0, Math.max(0, text.search(/^import /m)))
  return head.split('\n').some((line) => line.startsWith(MARKS[mark]))
}

/** Whether the file tries one part on every adapter, all in one run. */
function isContract(file: string): boolean {
  return file.endsWith('.contract.test.ts')
}

function canRunOnCluster(file: string): boolean {
  if (isContract(file)) return false
  return file.startsWith('test/cluster/') || (CAPABILITIES.test(file) && !hasMark(file, 'onlyOnFolder'))
}
