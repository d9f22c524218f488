/**
 * An installation with one of everything, a backup of it, and the contract, as files that later versions must keep to:
 * `bun test/support/databases/kept-version.ts` writes those of the version in package.json into
 * test/cluster/database/versions/. Run when a version is released.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { version } from '../../../package.json'
import { holdfast } from '../cli/command.ts'
import { addAccount, type ChildSettings, startChild, temporaryFolder } from '../processes/child.ts'
import { runProgram } from '../processes/program.ts'
import { createDatabase } from './postgres.ts'

const VERSIONS = join(import.meta.dir, '../../cluster/database/versions')

/** What is in a kept installation. */
export interface KeptVersion {
  readonly apiKey: string
  /** A file at the top level, and one in a private folder. */
  readonly open: KeptFile
  readonly closed: KeptFile
  readonly folders: { readonly closed: string; readonly locked: string }
  /** Slug of a file in the bin. */
  readonly binned: string
  /** Slug of a link to the closed file, with the password `open` and three downloads. */
  readonly link: string
  readonly guest: { readonly slug: string; readonly receipt: string }
  /** Names of the account's files, sorted. */
  readonly names: readonly string[]
}

export interface KeptFile {
  readonly slug: string
  readonly text: string
}

/** Folders of the versions that are kept. */
export function keptVersions(): readonly string[] {
  return existsSync(VERSIONS) ? readdirSync(VERSIONS).map((name) => join(VERSIONS, name)) : []
}

/** What is in a kept version, on SQLite and on PostgreSQL. */
export function keptFacts(place: string): { readonly sqlite: KeptVersion; readonly postgresql: KeptVersion } {
  return JSON.parse(readFileSync(join(place, 'facts.json'), 'utf8'))
}

/** Makes the installations with the program as it is now, and keeps them in the folder. */
export async function keepVersion(place: string): Promise<void> {
  mkdirSync(place, { recursive: true })
  const contract = await Bun.file(join(import.meta.dir, '../../../docs/api/openapi.json')).bytes()
  writeFileSync(join(place, 'openapi.json.gz'), Bun.gzipSync(contract))
  using home = temporaryFolder()
  const packed = (name: string, folder: string) =>
    succeed(['tar', '--exclude=reserve', '-czf', join(place, name), '-C', home.path, folder])

  const dataDir = join(home.path, 'data')
  const sqlite = await fill(dataDir, {})
  await packed('sqlite.tar.gz', 'data')
  const backup = await holdfast(home.path, ['backup', join(home.path, 'backup')], {
    HOLDFAST_DATA_DIR: dataDir,
  })
  if (backup.code !== 0) throw new Error(backup.errors)
  await packed('backup.tar.gz', 'backup')

  const database = await createDatabase()
  const postgresql = await fill(join(home.path, 'node'), { DATABASE_URL: database.url })
  await packed('postgresql-store.tar.gz', 'node')
  const dump = await succeed(['pg_dump', '--no-owner', '--no-privileges', database.url])
  writeFileSync(join(place, 'postgresql.sql.gz'), Bun.gzipSync(new TextEncoder().encode(dump)))
  await database.drop()
  writeFileSync(join(place, 'facts.json'), `${JSON.stringify({ sqlite, postgresql }, null, 2)}\n`)
}

async function succeed(command: readonly string[]): Promise<string> {
  const { code, output, errors } = await runProgram(command)
  if (code !== 0) throw new Error(`${command[0]}: ${errors}`)
  return output
}

const file = z.object({ slug: z.string(), receipt: z.string().nullish() })
const folder = z.object({ data: z.object({ identifier: z.string() }) })
const made = z.object({ data: z.object({ slug: z.string() }) })

/** Fills an empty installation by its API, and stops its server. */
async function fill(dataDir: string, settings: ChildSettings): Promise<KeptVersion> {
  const server = await startChild(dataDir, settings)
  const { apiKey } = await addAccount(dataDir, 'ann', settings)
  const ask = async (path: string, body: unknown, key: string | null = apiKey): Promise<unknown> => {
    const isForm = body instanceof FormData
    const headers = new Headers(key === null ? {} : { Authorization: `Bearer ${key}` })
    if (!isForm) headers.set('Content-Type', 'application/json')
    const sent = { method: 'POST', headers, body: isForm ? body : JSON.stringify(body) }
    const answer = await fetch(new URL(path, server.url), sent)
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const upload = async (name: string, text: string, key: string | null = apiKey, into?: string) => {
    const form = new FormData()
    form.set('file', new File([text], name))
    const headers = new Headers(key === null ? {} : { Authorization: `Bearer ${key}` })
    if (into !== undefined) headers.set('X-Folder-ID', into)
    const answer = await fetch(new URL('/api/v1/upload', server.url), { method: 'POST', headers, body: form })
    if (!answer.ok) throw new Error(`upload: ${answer.status} ${await answer.text()}`)
    return file.parse(await answer.json())
  }
  const newFolder = async (more: object) => folder.parse(await ask('/api/v1/folder', more)).data.identifier

  const open = await upload('Größe 鯨.txt', 'top level')
  const closed = await newFolder({ name: 'Private', public: 0 })
  const inClosed = await upload('secret.txt', 'in a private folder', apiKey, closed)
  const locked = await newFolder({ name: 'Locked', public: 1, password: 'sesame' })
  await upload('behind.txt', 'behind a password', apiKey, locked)
  const binned = await upload('binned.txt', 'in the bin')
  await ask('/api/v1/bin', { files: [binned.slug] })
  const link = made.parse(
    await ask('/api/v1/links', {
      files: [inClosed.slug],
      name: 'A link',
      password: 'open',
      max_downloads: 3,
    }),
  ).data.slug
  const guest = await upload('guest.txt', 'from a guest', null)
  await server.stop()
  return {
    apiKey,
    open: { slug: open.slug, text: 'top level' },
    closed: { slug: inClosed.slug, text: 'in a private folder' },
    folders: { closed, locked },
    binned: binned.slug,
    link,
    guest: { slug: guest.slug, receipt: guest.receipt ?? '' },
    names: ['Größe 鯨.txt', 'behind.txt', 'secret.txt'],
  }
}

if (import.meta.main) {
  await keepVersion(join(VERSIONS, version))
  process.exit(0)
}
