/**
 * The tests that take too long for every day: `npm run test:long` runs them all, `npm run test:long -- memory` one,
 * `npm run test:long -- kills 200` one with its measure changed. Each prints its figures; the exit code tells.
 */
import { archiveMemory, archivePlans, archivePrograms } from './archive.ts'
import { badLine, badLineClients, badLineToNodes } from './bad-line.ts'
import { everythingOnTheCluster } from './cluster.ts'
import { crashImages } from './crash-points.ts'
import { folderWalks } from './folder-model.ts'
import { fuzz } from './fuzz.ts'
import { backupCuts, kills, powerCuts } from './kills.ts'
import { downloadMeanwhile } from './meanwhile.ts'
import { bigUpload, bigUploadToS3, manyUploads } from './memory.ts'
import { bigMigrations } from './migrations.ts'
import { postgresCrashes, postgresPowerCuts } from './postgres-crashes.ts'
import { silentPipes, unsettledFetches } from './runtime.ts'
import { soak } from './soak.ts'
import { seededWorlds } from './worlds.ts'

interface LongTest {
  readonly about: string
  /** What the number after the name means, and what it is when none is given. */
  readonly measure: string
  readonly default: number
  /** Resolves with the figures; rejects when what was promised does not hold. `first`: the second number, where one is given. */
  readonly run: (measure: number, first?: number) => Promise<string>
}

const tests: Readonly<Record<string, LongTest>> = {
  memory: {
    about: 'one big upload, and how far it raises the peak memory of a warm server',
    measure: 'GB of the upload',
    default: 10,
    run: bigUpload,
  },
  's3-memory': {
    about: 'one big upload to an S3 store, and how far it raises the peak memory of a warm server',
    measure: 'GB of the upload',
    default: 10,
    run: bigUploadToS3,
  },
  parallel: {
    about: 'uploads of 100 MB at once, and how far they raise the peak memory of a warm server',
    measure: 'uploads',
    default: 64,
    run: manyUploads,
  },
  archive: {
    about: 'a zip with one large file and 70,000 small ones, read by every program',
    measure: 'GB of the large file',
    default: 5,
    run: archivePrograms,
  },
  'archive-memory': {
    about: 'a zip of very many files, and how far it raises the peak memory of a warm server',
    measure: 'files',
    default: 100_000,
    run: archiveMemory,
  },
  'archive-plans': {
    about: '30 zips of very many files at once, and how far they raise the peak memory of a warm server',
    measure: 'files',
    default: 100_000,
    run: archivePlans,
  },
  pipes: {
    about: 'children of Bun whose output never arrives',
    measure: 'children',
    default: 5000,
    run: silentPipes,
  },
  fetches: {
    about: 'aborted requests of Bun that never settle',
    measure: 'requests',
    default: 20_000,
    run: unsettledFetches,
  },
  soak: {
    about: 'uploads, moves, deletes and downloads without a pause',
    measure: 'minutes',
    default: 15,
    run: soak,
  },
  'bad-line': {
    about: 'one big upload by the command line, through nginx with 100 MB a body, over 100 cuts and 10 kills',
    measure: 'GB of the upload',
    default: 10,
    run: badLine,
  },
  'both-ways': {
    about:
      'one big upload that is downloaded meanwhile, each over 50 cuts, and how far it raises the peak memory of a warm server',
    measure: 'GB of the upload',
    default: 10,
    run: downloadMeanwhile,
  },
  'bad-line-nodes': {
    about: 'the same to three nodes on PostgreSQL and an S3 store',
    measure: 'GB of the upload',
    default: 10,
    run: badLineToNodes,
  },
  'bad-line-clients': {
    about:
      'uploads by tus-js-client, to one server and to three nodes, and by the command line in bodies of 1 MB',
    measure: 'cuts of each, and a tenth as many kills',
    default: 100,
    run: badLineClients,
  },
  'folder-model': {
    about: 'random steps on folders and files beside a plain model, on SQLite and on three nodes',
    measure: 'walks of 20 to 40 steps in each',
    default: 100,
    run: folderWalks,
  },
  'postgres-crashes': {
    about: 'crashes of PostgreSQL, whose commits are slow, under uploads of several accounts',
    measure: 'crashes',
    default: 100,
    run: postgresCrashes,
  },
  'postgres-power-cuts': {
    about: 'power cuts of the disk that PostgreSQL and the bytes share, under the same uploads; needs root',
    measure: 'cuts',
    default: 100,
    run: postgresPowerCuts,
  },
  fuzz: {
    about: 'odd text for each parser, and odd requests to a server',
    measure: 'cases of each',
    default: 1_000_000,
    run: fuzz,
  },
  'crash-points': {
    about: 'every state in which a power cut can leave one upload of each kind; needs strace',
    measure: 'recordings',
    default: 5,
    run: crashImages,
  },
  worlds: {
    about: 'services, callers, faults, kills and leaps of the clock that follow from a number each',
    measure: 'worlds; a second number is the first of them',
    default: 10_000,
    run: seededWorlds,
  },
  cluster: {
    about: 'every file of tests that can run on PostgreSQL and S3',
    measure: 'runs',
    default: 1,
    run: everythingOnTheCluster,
  },
  migrations: {
    about: 'all migrations at once, and what a copy says of that, on both databases',
    measure: 'files',
    default: 1_000_000,
    run: bigMigrations,
  },
  'power-cuts': {
    about: 'power cuts at random moments, on a disk that loses all that was not synced; needs root',
    measure: 'cuts',
    default: 1000,
    run: powerCuts,
  },
  'backup-cuts': {
    about: 'power cuts during backups and repairs; needs root',
    measure: 'cuts of each',
    default: 100,
    run: backupCuts,
  },
  kills: { about: 'kills at random moments', measure: 'kills', default: 2000, run: kills },
}

// The database and the store that tests share end with this process, which they would keep alive.
process.exit(await main(process.argv.slice(2)))

async function main([name, ...texts]: string[]): Promise<number> {
  const chosen = Object.entries(tests).filter(([each]) => name === undefined || each === name)
  const numbers = texts.map(Number)
  const [measure, first] = numbers
  if (chosen.length === 0 || numbers.some((number) => !Number.isInteger(number) || number <= 0)) {
    console.error('usage: npm run test:long [-- <test> [<measure> [<first>]]]')
    for (const [each, test] of Object.entries(tests)) {
      console.error(`  ${each.padEnd(16)} ${test.about} (${test.measure}; ${test.default})`)
    }
    return 2
  }
  let failed = 0
  for (const [each, test] of chosen) {
    console.log(`${each}: ${test.about} (${measure ?? test.default} ${test.measure})`)
    const begin = performance.now()
    try {
      console.log(`${each}: ${await test.run(measure ?? test.default, first)}`)
    } catch (error) {
      failed += 1
      for (const one of errorsOf(error)) console.error(`${each}: FAILED`, one)
    }
    console.log(`${each}: took ${Math.round((performance.now() - begin) / 1000)} s`)
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

/** What went wrong first, and what the cleaning up after it came upon. */
function errorsOf(error: unknown): unknown[] {
  return error instanceof SuppressedError
    ? [...errorsOf(error.suppressed), ...errorsOf(error.error)]
    : [error]
}
