/** Lists the test files, the storage pairs that each runs on, and the runs that belong to `npm test`. */
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

/**
 * Tests of the capabilities through their interface; `.unit` and `.contract` tests in these folders run once.
 */
const CAPABILITIES =
  /^test\/(accounts|core|downloads|events|files|mail|operations|pages|server|sharing|thumbnails|uploads|webhooks)\//
const RUN_ONCE = /\.(unit|contract)\.test\.ts$/

const NOT_ON_THE_CLUSTER: Readonly<Record<string, string>> = {
  'test/downloads/signed-matrix.test.ts':
    'generated: the rule is in the program; signed-content.test.ts has signed addresses on the cluster',
  'test/downloads/verified-reads.test.ts':
    'hashes what the server sends, whatever store it comes from; chunks as those of S3 come are in it',
  'test/files/expiry-clock.test.ts':
    'is about how far a node believes its own clock, which the nodes of a test share',
  'test/operations/backup/backup.test.ts': 'backup-nodes.contract.test.ts has PostgreSQL and buckets',
  'test/operations/backup/backup-attacks.test.ts': 'is about what lies in the target',
  'test/operations/backup/backup-targets.test.ts': 'is about what lies in the target',
  'test/operations/backup/own-backups.test.ts':
    'runs the same commands; backup-nodes.contract.test.ts takes them from PostgreSQL and buckets',
  'test/operations/doctor/doctor.test.ts':
    'starts servers of its own behind each proxy; doctor-nodes has PostgreSQL and S3',
  'test/sharing/links/link-access.test.ts':
    'generated: the rule is in the program; links.test.ts opens links of every kind on the cluster',
  'test/operations/integrity/marks.test.ts':
    'check.test.ts, damages.test.ts and sums.test.ts mark and repair on the cluster',
  'test/operations/integrity/scrub.test.ts': 'damages.test.ts has the job on the cluster',
  'test/operations/mirror/mirror-folder.test.ts':
    'is about the place of the mirror; mirror.test.ts has a bucket on the cluster',
  'test/operations/mirror/mirror-reading.test.ts':
    'is about the disk of the mirror; the order of ids and the rows are those of mirror.test.ts',
  'test/server/connections/one-answer.test.ts':
    'generated, and about the connection: nginx refuses most of it by itself',
  'test/server/openapi/generators.test.ts': 'is about the document; one server answers its clients',
  'test/server/trail-files.test.ts': 'is about the files of one node; trails.test.ts has what three write',
  'test/server/long-work.test.ts':
    'is about statements on the main thread; the other nodes answer in any case',
}

/**
 * Files and folders that run on the cluster only where they are named, and with `npm run test:long -- cluster`: they are
 * about what lies above database and store, or another file of the whole run has their statements on the cluster.
 */
const SELDOM_ON_THE_CLUSTER: Readonly<Record<string, string>> = {
  'test/accounts/sign-in/authentication.test.ts':
    'expiry.test.ts and signed-content.test.ts have its statements',
  'test/accounts/sign-in/code-step.test.ts':
    'sign-in.test.ts and password-change.test.ts have its statements',
  'test/accounts/sign-in/lockout.test.ts': 'rate-limits.contract.test.ts has the windows that its locks are',
  'test/accounts/sign-in/new-passwords.test.ts': 'mail.test.ts and sign-in.test.ts have its statements',
  'test/accounts/sign-in/oidc-forged-tokens.test.ts': 'refused before any statement; oidc.test.ts signs in',
  'test/accounts/sign-in/passkey-ceremonies.test.ts':
    'refused before any statement; passkeys.test.ts signs in',
  'test/accounts/sign-up-closed.test.ts': 'sign-up.test.ts has the statements',
  'test/core/rate-limits/rate-limits-http.test.ts':
    'rate-limits.contract.test.ts has its windows, and shared-limits.test.ts three nodes',
  'test/downloads/damaged-content.test.ts': 'damages.test.ts marks and reads there',
  'test/downloads/download-tools.test.ts': 'programs before the same answers as content.test.ts',
  'test/downloads/zip/zip-damage.test.ts':
    'damages.test.ts marks there; zip-changes.test.ts has a broken zip',
  'test/downloads/zip/zip-plans.test.ts': 'bound-keys.test.ts and receiving.test.ts have its statements',
  'test/downloads/zip/zip-selection.test.ts': 'bound-keys.test.ts and deletes.test.ts have its statements',
  'test/files/bin/bin-model.test.ts': 'generated; bin.test.ts and admin.test.ts have its statements',
  'test/files/expiry-rhythm.test.ts': 'is about when the job runs; expiry.test.ts runs it there',
  'test/files/file-moves.test.ts': 'deletes.test.ts has its statements',
  'test/files/folders/folder-model.test.ts': 'generated; folder-races.test.ts has its statements',
  'test/files/inactivity.test.ts': 'expiry.test.ts has its statements',
  'test/operations/doctor/': 'doctor-nodes.contract.test.ts has PostgreSQL and S3',
  'test/operations/traffic.test.ts': 'numbers of a process; metrics.test.ts has all of them',
  'test/pages/': 'pages are made of answers that the other folders have there',
  'test/server/answers/': 'is about the answer after the statements',
  'test/server/authorization-matrix.test.ts':
    'generated: the rule is in the program; bound-keys.test.ts has its rows',
  'test/server/connections/': 'is about the connection before any statement',
  'test/server/errors.test.ts': 'is about the answer after the statements',
  'test/server/openapi/': 'is about the document and the shape of answers',
  'test/server/requests/': 'is about requests before any statement',
  'test/server/slashes.test.ts': 'is about paths before any statement',
  'test/sharing/access-matrix.test.ts':
    'generated: the rule is in the program; folder-password.test.ts has its rows',
  'test/sharing/report-page.test.ts': 'reports.test.ts has the statements',
  'test/thumbnails/thumbnail-films.test.ts': 'thumbnails.test.ts keeps and sends them there',
  'test/thumbnails/thumbnail-pictures.test.ts': 'thumbnails.test.ts keeps and sends them there',
  'test/uploads/early-refusals.test.ts':
    'refused before the store; uploads.test.ts and guests.test.ts have the sums',
  'test/uploads/guests.test.ts': 'deletes.test.ts has its statements, and shared-limits.test.ts three nodes',
  'test/uploads/upload-names.test.ts': 'put-uploads.test.ts and uploads.test.ts store names there',
}

/** Files that only `npm run test:all` runs, with the reason or what `npm test` covers instead. */
const ONLY_IN_ALL: Readonly<Record<string, string>> = {
  'test/cli/relocate-refusals.test.ts':
    'starts the program for each refusal; relocation.test.ts has the rules',
  'test/files/folders/folder-thumbnail.test.ts': 'makes pictures; folder-covers have most of it',
  'test/operations/mirror/mirror.test.ts': 'mirrors again and again; mirror-folder.test.ts has most of it',
  'test/files/inactivity-terms.test.ts': 'expiry-boundaries.contract.test.ts has the same by its parts',
  'test/blobs/s3-faults.contract.test.ts': 'retries, further and further apart; s3-read-faults has some',
  'test/blobs/s3-resuming.contract.test.ts': 'retries, further and further apart; resumable-blobs has S3 too',
  'test/browser/admin-access.test.ts': 'admin.test.ts opens the same pages',
  'test/browser/arriving.test.ts': 'test/downloads/arrivals.test.ts has the same by its interface',
  'test/browser/both-do.test.ts': 'waits as servers ask; changing-files and test/client have most of it',
  'test/browser/file.test.ts': 'previews of every kind; site.test.ts opens the page',
  'test/browser/files-hostile.test.ts': 'generated: every hostile name',
  'test/browser/files-manners.test.ts': 'files.test.ts works on the same page',
  'test/browser/files-many.test.ts': 'thousands of rows',
  'test/browser/files-nodes.test.ts': 'three nodes',
  'test/browser/files-states.test.ts': 'files.test.ts works on the same page',
  'test/browser/files-undo.test.ts': 'files.test.ts works on the same page',
  'test/browser/folder.test.ts': 'site.test.ts opens its page, and test/pages has what it says',
  'test/browser/hostile-files.test.ts': 'generated: every hostile content',
  'test/browser/hostile-pages.test.ts': 'generated: every hostile name on every page',
  'test/browser/layout-shift.test.ts': 'site.test.ts opens every page',
  'test/browser/menus.test.ts': 'every menu at every size',
  'test/browser/one-link.test.ts': 'test/sharing/links/guest-links.test.ts has the same by its interface',
  'test/browser/receipts.test.ts': 'test/uploads/receipts.test.ts has the same by its interface',
  'test/browser/reference.test.ts': 'long pages; test/server/openapi/openapi.test.ts has the document',
  'test/browser/sharing.test.ts': 'files.test.ts works on the same page',
  'test/browser/signing-in-oidc.test.ts': 'test/accounts/sign-in has the same by its interface',
  'test/browser/signing-in.test.ts': 'test/accounts/sign-in has the same by its interface',
  'test/browser/start-account.test.ts': 'start.test.ts works on the same page',
  'test/browser/start-nodes.test.ts': 'half a minute until a node is taken for dead',
  'test/browser/start-progress.test.ts': 'slow lines',
  'test/browser/start-resuming.test.ts': 'slow lines, and browsers and servers that start again',
  'test/browser/tus.test.ts': 'test/client/tus-js.test.ts has the same library',
  'test/browser/upload-link.test.ts': 'test/sharing/links/upload-links.test.ts has the same by its interface',
  'test/browser/upload-states.test.ts': 'start.test.ts works on the same page',
  'test/cli/account.test.ts': 'many starts of the program; test/accounts has the same by its interface',
  'test/cli/admin.test.ts': 'many starts of the program; test/operations has the same by its interface',
  'test/cli/key.test.ts':
    'many starts of the program; test/accounts/keys.test.ts has the same by its interface',
  'test/cli/relocate.test.ts': 'many starts of the program; relocate-refusals.test.ts has some',
  'test/cli/start-failures.test.ts': 'many starts of the program; serve.test.ts has some',
  'test/client/download.test.ts': 'many starts of the program; files-and-folders.test.ts has some',
  'test/client/parts.test.ts': 'long lines; upload.test.ts has some',
  'test/client/receipts.test.ts':
    'many starts of the program; test/uploads/receipts.test.ts has the same by its interface',
  'test/client/receiving.test.ts':
    'waits for what comes; download.test.ts and arrivals.test.ts have its parts',
  'test/client/resuming.test.ts': 'many starts of the program; upload.test.ts has some',
  'test/client/server-kills.test.ts': 'rounds of kills',
  'test/deploy/documented-commands.test.ts': 'runs every command of the documentation',
  'test/deploy/nginx.test.ts': 'a real nginx before real servers; the nodes of the cluster have one too',
  'test/downloads/signed-matrix.test.ts':
    'generated: every way in which a signed address is closed; signed-content.test.ts has some',
  'test/downloads/verified-reads.test.ts': 'off by default; damaged-content.test.ts has marked contents',
  'test/faults/bad-line.test.ts': 'slow lines, and a node that is to be taken for dead',
  'test/faults/backup-read-errors.test.ts':
    'many starts of the program; test/operations/integrity/scrub.test.ts has the rule',
  'test/faults/clock-jumps.test.ts':
    'waits for jobs in real time; test/files/expiry.test.ts has a clock that is set',
  'test/faults/corrupt-pages.test.ts': 'many starts of the server and of commands',
  'test/faults/crash-points.test.ts': 'many starts of the server; sync-failures has each sync',
  'test/faults/crash.test.ts': 'rounds of crashes',
  'test/faults/database-away.test.ts': 'a database that stands still',
  'test/faults/dead-nodes.test.ts': 'half a minute until a node is taken for dead',
  'test/faults/frozen-services.test.ts':
    'a database and a store of its own; silence.unit.test.ts has the rule',
  'test/faults/hostile-pictures.test.ts': 'generated: every hostile picture',
  'test/faults/killed-windows.test.ts': 'a kill, and three starts of the program',
  'test/faults/link-kills.test.ts': 'a kill, and two starts of the program',
  'test/faults/lost-commits.test.ts': 'ten seconds in which a database might come back',
  'test/faults/node-starts.test.ts': 'many starts of nodes',
  'test/faults/postgres-closing.test.ts': 'a database server of its own',
  'test/faults/postgres-crashes.test.ts': 'rounds of crashes',
  'test/faults/power-cuts.test.ts': 'rounds of power cuts',
  'test/faults/read-errors.test.ts':
    'many starts of the program; test/operations/integrity/scrub.test.ts has the rule',
  'test/faults/shared-limits.test.ts': 'races of three nodes',
  'test/faults/shutdown.test.ts': 'half a minute that a stopping server gives uploads',
  'test/faults/slow-clients.test.ts': 'minutes of a clock, and slow lines',
  'test/faults/store-away.test.ts': 'retries, further and further apart',
  'test/faults/sync-failures.test.ts': 'many starts of the program',
  'test/faults/tus-kills.test.ts': 'rounds of kills',
  'test/faults/tus-nodes.test.ts': 'half a minute until a node is taken for dead',
  'test/blobs/s3-final-answers.contract.test.ts':
    'each answer at each request; s3-faults.contract.test.ts has those that pass',
  'test/browser/changing-files.test.ts':
    'large files in a browser; resuming.test.ts has the rule of the client',
  'test/browser/unreadable-files.test.ts': 'files of the disk in a browser; start.test.ts has a drop',
  'test/database/postgres-session.contract.test.ts':
    'servers with settings of their own; growing-pool.contract.test.ts has the pool',
  'test/database/postgres-tls.test.ts':
    'a PostgreSQL of its own with TLS; start-failures.test.ts has messages',
  'test/deploy/haproxy.test.ts': 'a proxy; upload-window.test.ts is in the whole run too',
  'test/deploy/wrapper.test.ts': 'many starts of the program',
  'test/faults/blobs-away.test.ts': 'each way for each route; cleaning.test.ts has a store that is away',
  'test/faults/few-networks.test.ts': 'thousands of connections; shares.unit.test.ts has the rule',
  'test/faults/store-refuses.test.ts': 'rounds of refused joins; s3-faults.contract.test.ts has failures',
  'test/faults/write-errors.test.ts': 'rounds of failing calls; sync-failures has each sync',
  'test/files/expiry-clock.test.ts': 'clocks that jump; expiry.test.ts has the rule',
  'test/files/file-search-rows.contract.test.ts': 'thousands of rows; file-search.test.ts searches',
  'test/files/folders/folder-clearing.contract.test.ts': 'thousands of folders; deletes.test.ts has some',
  'test/fuzz/requests.test.ts': 'thousands of requests; parsers.unit.test.ts has what reads them',
  'test/operations/backup/backup-nodes.contract.test.ts':
    'PostgreSQL and a store; backup.test.ts has the rest in the whole run',
  'test/operations/backup/backup-attacks.test.ts':
    'many starts of the program; catalog-copies.unit.test.ts has the catalog',
  'test/operations/backup/backup-targets.test.ts':
    'many starts of the program; retention.unit.test.ts has a rule',
  'test/operations/backup/backup.test.ts': 'many starts of the program; retention.unit.test.ts has a rule',
  'test/operations/backup/own-backups-nodes.contract.test.ts':
    'PostgreSQL and a store; own-backups.test.ts has the rest in the whole run',
  'test/operations/backup/own-backups.test.ts':
    'many starts of the program; retention.unit.test.ts has a rule',
  'test/operations/doctor/doctor-nodes.contract.test.ts': 'nodes and proxies; the unit tests have its rules',
  'test/operations/doctor/upload-window.test.ts':
    'real proxies and a long line; the unit tests have the rules',
  'test/operations/doctor/doctor.test.ts': 'real proxies, and lines that are silent',
  'test/operations/integrity/marks.test.ts': 'check.test.ts and damages.test.ts mark and repair',
  'test/operations/migration-time.contract.test.ts':
    'copies in PostgreSQL; test/cli/migrate.test.ts has one of SQLite',
  'test/operations/mirror/mirror-attacks.test.ts':
    'each refusal looks again for a second; mirror-folder.test.ts has marks',
  'test/operations/mirror/mirror-folder.test.ts': 'many starts of the program; mirror.test.ts has some',
  'test/operations/relocation/row-copy.contract.test.ts':
    'copies every table; migrations and relocation-bytes are quick',
  'test/server/authorization-matrix.test.ts': 'generated: every route; bound-keys.test.ts has some',
  'test/server/connections/one-answer.test.ts':
    'generated: 680 requests; request-smuggling.contract.test.ts has what parsers disagree on',
  'test/server/trail-files.test.ts': 'waits a second for each of many days; trails.test.ts has the lines',
  'test/server/openapi/generators.test.ts':
    'installs and runs programs of others; openapi-answers.test.ts compares answers with the document',
  'test/sharing/links/link-log.test.ts': 'link-claims.test.ts counts the same downloads',
  'test/thumbnails/thumbnail-films.test.ts':
    'makes films; guard.contract.test.ts has the process that reads them',
  'test/thumbnails/thumbnail-making.contract.test.ts': 'many processes; thumbnail-pictures.test.ts has some',
  'test/worlds/worlds.test.ts': 'two hundred worlds; world.test.ts has one',
  'test/web/build.test.ts': 'builds the site several times; the run itself builds it once',
  'test/webhooks/webhooks.test.ts': 'days of a clock; webhook-request.unit.test.ts has what is sent where',
  'test/sharing/links/link-secrets.test.ts': 'generated: link-access.test.ts has the rule',
  'test/accounts/widening.test.ts': 'a row for each route; key-scopes.test.ts has the scopes',
  'test/downloads/use-counting.test.ts': 'each way to download; counting.test.ts has the rule',
  'test/downloads/zip/zip-layout.unit.test.ts': 'generated: zip-folder.test.ts unpacks some',
  'test/operations/integrity/scrub.test.ts': 'days of a job; damages.test.ts has a run of it',
  'test/sharing/ways-up.test.ts': 'generated: folder-page.test.ts and access-matrix.test.ts have the pages',
  'test/thumbnails/thumbnail-pictures.test.ts': 'pictures of every kind; thumbnails.test.ts has some',
  'test/uploads/resumable/empty-uploads.test.ts': 'thousands of uploads; shares.unit.test.ts has the rule',
}

/** Files of other folders that run on the cluster, too: what they do is different on S3. */
const ALSO_ON_THE_CLUSTER: readonly string[] = ['test/client/receiving.test.ts']

/** Files that `npm test` runs on three nodes: sign-in, downloads, folders and uploads. */
const SHORT_ON_THE_CLUSTER: readonly string[] = [
  'test/accounts/sign-in/password-change.test.ts',
  'test/downloads/zip/zip-folder.test.ts',
  'test/files/folders/folders.test.ts',
  'test/uploads/resumable/tus-core.test.ts',
]

export function testFiles(): string[] {
  return [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: REPOSITORY })].sort()
}

/** All runs of the files, also those that are seldom made. */
export function tasksOf(files: readonly string[]): Task[] {
  return files.flatMap((file) => [
    { file, pair: 'folder' },
    ...(isOnCluster(file) ? ([{ file, pair: 'cluster' }] as const) : []),
  ])
}

/** Whether `npm test` includes the run. */
export function isShort({ file, pair }: Task): boolean {
  return pair === 'cluster' ? SHORT_ON_THE_CLUSTER.includes(file) : !(file in ONLY_IN_ALL)
}

/** Whether `npm run test:all` includes the run. */
export function isUsual({ file, pair }: Task): boolean {
  return pair === 'folder' || !Object.keys(SELDOM_ON_THE_CLUSTER).some((start) => file.startsWith(start))
}

/** Files and folders named in the lists above, for a check that they exist. */
export function namedFiles(): string[] {
  return [
    ...Object.keys(NOT_ON_THE_CLUSTER),
    ...ALSO_ON_THE_CLUSTER,
    ...Object.keys(SELDOM_ON_THE_CLUSTER),
    ...Object.keys(ONLY_IN_ALL),
    ...SHORT_ON_THE_CLUSTER,
  ]
}

/** Whether the run uses PostgreSQL or S3. */
export function needsServers({ file, pair }: Task): boolean {
  return pair === 'cluster' || /\.contract\.test\.ts$|^test\/(faults|cli|browser)\//.test(file)
}

/**
 * Files that are alike enough to run one after another in one process, as a name for them. Null for a file that
 * watches its process, the disk or the machine.
 */
export function processOf(file: string): string | null {
  if (/\.contract\.test\.ts$/.test(file)) return /^test\/(blobs|faults)\//.test(file) ? null : 'contracts'
  if (CAPABILITIES.test(file) || /^test\/(config|docs|domain|web)\//.test(file)) return 'capabilities'
  return /^test\/(browser|cli|client)\//.exec(file)?.[1] ?? null
}

function isOnCluster(file: string): boolean {
  if (ALSO_ON_THE_CLUSTER.includes(file)) return true
  return CAPABILITIES.test(file) && !RUN_ONCE.test(file) && !(file in NOT_ON_THE_CLUSTER)
}
