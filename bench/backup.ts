/**
 * `npm run bench -- backup`: measures first backups, those without changes and a restore, beside `cp -r` with a sync, while files
 * are uploaded. Prints a table.
 *
 * npm run bench -- backup [--files N] [--mebibytes N] [--rounds N] [--plain] [--folder PATH] [--help]
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MIB, median } from './measure.ts'
import { readyMemory } from './page-cache.ts'
import { startMeasuredHoldfast } from './servers.ts'

const HELP = `npm run bench -- backup [options]

Copies an installation while a file is uploaded every tenth of a second.

  --files N      how many files it has; 2000 unless told
  --mebibytes N  size of each; 1 unless told
  --rounds N     how often; 3 unless told
  --plain        leaves out the encrypted one
  --folder PATH  on the disk to measure; /var/tmp unless told
  --help         this`

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '2000' },
    mebibytes: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    plain: { type: 'boolean', default: false },
    folder: { type: 'string', default: '/var/tmp' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}
const [files, rounds] = [Number(values.files), Number(values.rounds)]
const size = Number(values.mebibytes) * MIB
const MAIN = join(import.meta.dir, '../src/main.ts')
const folder = mkdtempSync(join(values.folder, 'holdfast-backup-bench-'))
const data = join(folder, 'holdfast', 'data')
const sealed = { HOLDFAST_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase') }
writeFileSync(sealed.HOLDFAST_BACKUP_PASSPHRASE_FILE, 'a passphrase that nobody guesses')
const server = await startMeasuredHoldfast(join(folder, 'holdfast'))
try {
  const key = await server.addAccount('backup')
  for (let at = 0; at < files; at += 8) {
    await Promise.all(Array.from({ length: Math.min(8, files - at) }, (_, next) => put(key, at + next, size)))
  }
  const ways = [
    {
      name: '`cp -r` and `sync`',
      seconds: () => timed(['sh', '-c', `cp -r ${data} ${folder}/copy && sync`]),
    },
    { name: 'first backup', seconds: () => holdfast(['backup', `${folder}/backup`]) },
    { name: 'backup without changes', seconds: () => holdfast(['backup', `${folder}/backup`]) },
    { name: 'first backup, encrypted', seconds: () => holdfast(['backup', `${folder}/sealed`], sealed) },
    {
      name: 'without changes, encrypted',
      seconds: () => holdfast(['backup', `${folder}/sealed`], sealed),
    },
    { name: 'restore', seconds: () => holdfast(['restore', `${folder}/backup`]) },
  ].filter(({ name }) => !values.plain || !name.includes('encrypted'))
  const taken = ways.map(() => [] as number[])
  const traffic = new AbortController()
  const uploads = uploadSlowly(key, traffic.signal)
  for (let round = 0; round < rounds; round++) {
    for (const [number, { seconds }] of ways.entries()) {
      readyMemory(folder, files * size)
      taken[number]?.push(await seconds())
    }
    for (const name of ['copy', 'backup', 'sealed', 'restored']) {
      rmSync(join(folder, name), { recursive: true, force: true })
    }
  }
  traffic.abort()
  await uploads
  const copy = median(taken[0] ?? [])
  console.log(`${files} files of ${values.mebibytes} MiB, ${rounds} rounds, medians\n`)
  console.log('| way | seconds | of `cp -r` and `sync` |')
  console.log('|---|---:|---:|')
  for (const [number, { name }] of ways.entries()) {
    const seconds = median(taken[number] ?? [])
    console.log(`| ${name} | ${seconds.toFixed(1)} | ${(seconds / copy).toFixed(2)} |`)
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

async function put(key: string, number: number, bytes: number): Promise<void> {
  const answer = await fetch(`${server.url}/${number}.bin`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${key}` },
    body: randomBytes(bytes),
  })
  if (!answer.ok) throw new Error(`an upload was answered ${answer.status}: ${await answer.text()}`)
}

async function uploadSlowly(key: string, signal: AbortSignal): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    await put(key, number, 100 * 1024)
    await Bun.sleep(100)
  }
}

function holdfast(words: readonly string[], variables: Record<string, string> = {}): Promise<number> {
  const place = words[0] === 'restore' ? join(folder, 'restored') : data
  const its = { ...variables, HOLDFAST_DATA_DIR: place }
  return timed([process.execPath, '--no-env-file', MAIN, ...words], its)
}

async function timed(command: readonly string[], variables: Record<string, string> = {}): Promise<number> {
  const began = performance.now()
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...variables },
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'errors')),
  })
  if ((await child.exited) !== 0)
    throw new Error(`${command.join(' ')} failed: ${readFileSync(join(folder, 'errors'), 'utf8')}`)
  return (performance.now() - began) / 1000
}
