/** Time and chance are handed in, so that a test can set them: `src` asks the system itself in few places, each for a reason. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dir, '../../..')

const DIRECT =
  /\bsetTimeout\(|\bsetInterval\(|\bBun\.sleep|\bAbortSignal\.timeout\(|\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\b|\brandomUUID\(|\bgetRandomValues\(|\brandomBytes\(|timers\/promises/

/** Where a path begins so, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/domain/clock.ts': 'the clock of the system',
  'src/domain/random.ts': 'the randomness of the system',
  'src/domain/abort.ts': 'limits of real connections and of a real shutdown',
  'src/log.ts': 'times of lines, and lines that are written together',
  'src/cli/': 'commands: one process for one person',
  'src/client/': 'runs at the other end of a real line',
  'src/server/connections/': 'limits of real sockets',
  'src/blobs/disk-reading.ts': 'how long a descriptor stays open',
  'src/blobs/retries.ts': 'what is used where no pacing is handed in',
  'src/blobs/s3-client.ts': 'limits of real connections to the store',
  'src/database/batcher.ts': 'round trips of a real connection to PostgreSQL',
  'src/database/outcomes.ts': 'identifies a transaction of PostgreSQL',
  'src/database/transactions.ts': 'waits for a PostgreSQL that restarts',
  'src/downloads/zip/archive-slots.ts': 'waits for other archives of this process',
  'src/accounts/sign-in/oidc.ts': 'limits of requests to an identity provider, by whose clock tokens expire',
  'src/reserve.ts': 'bytes that nobody reads and no file system can store in less',
  'src/mail/mail-sending.job.ts': 'limits of a real connection to the mail server',
  'src/webhooks/webhook-request.ts': 'limits of a real connection to whoever is told',
  'src/contents/backup': 'a command: waits for other processes',
  'src/contents/drill.ts': 'a command: waits for other processes',
  'src/contents/copy-thread.ts': 'a command: waits for a store',
  'src/contents/relocation.ts': 'a command: waits for other processes',
  'src/operations/doctor/': 'measures the machine and the line',
  'src/operations/metrics/metrics.ts': 'measures the event loop',
  'src/thumbnails/process-guard.ts': 'limits of a real process',
  'src/thumbnails/images.ts': 'limits of a real process',
  'src/thumbnails/poster.ts': 'the name of a temporary file',
}

const isAllowed = (path: string) => Object.keys(ALLOWED).some((allowed) => path.startsWith(allowed))
const asksItself = (text: string) => DIRECT.test(text)

const direct = [...new Bun.Glob('src/**/*.ts').scanSync(REPOSITORY)].filter((path) =>
  asksItself(readFileSync(join(REPOSITORY, path), 'utf8')),
)

test('timers, times and random numbers come from the clock and the randomness that are handed in', () => {
  expect(direct.filter((path) => !isAllowed(path))).toEqual([])
})

test('no place is allowed that needs it no more', () => {
  expect(Object.keys(ALLOWED).filter((allowed) => !direct.some((path) => path.startsWith(allowed)))).toEqual(
    [],
  )
})

test('each way past the clock is seen', () => {
  const ways = [
    'setTimeout(f, 1)',
    'await Bun.sleep(1)',
    'Date.now()',
    'new Date()',
    'AbortSignal.timeout(5)',
  ]
  for (const way of [...ways, 'performance.now()', 'Math.random()', "from 'node:timers/promises'"]) {
    expect(asksItself(`const a = 1\n${way}\n`)).toBe(true)
  }
  expect(asksItself('clock.timers.after(1, f); new Date(clock.now())')).toBe(false)
})
