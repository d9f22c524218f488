/** What a test file is, by its folder and the marks at its head: the pairs of storage that it runs on, and when. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type PairName = 'folder' | 'cluster'
/** Storage below the servers of a test. */
export const PAIRS = { folder: 'SQLite and a folder', cluster: 'PostgreSQL and S3, three nodes behind nginx' }

/** A test file on one pair. */
export interface Task {
  readonly file: string
  readonly pair: PairName
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
  return (
    pair === 'cluster' || isContract(file) || /^test\/(faults|browser|server\/cli|cluster\/cli)\//.test(file)
  )
}

/** Files that run one after another in one process, as a name for them; null for a file that has its own. */
export function processOf(file: string): string | null {
  if (hasMark(file, 'ownProcess')) return null
  const [, tier = '', folder = ''] = file.split('/')
  if (tier === 'unit' || tier === 'browser') return tier
  if (!['server', 'cluster'].includes(tier) || ['blobs', 'database', 'deploy', 'runtime'].includes(folder))
    return null
  if (isContract(file)) return 'contracts'
  return ['cli', 'client'].includes(folder) ? folder : tier
}

export function hasMark(file: string, mark: keyof typeof MARKS): boolean {
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
