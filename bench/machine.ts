/** Holdfast on one machine (SQLite, a folder) beside real peers, in one run. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { outputFile } from '../test/support/processes/output-file.ts'
import { runProgram } from '../test/support/processes/program.ts'
import type { Options } from './bench.ts'
import { type Job, runClient, type UploadTarget } from './client.ts'
import { content } from './content.ts'
import {
  type Contender,
  GIB,
  type Measurement,
  MIB,
  measureAll,
  OURS,
  type Scenario,
  withUsage,
} from './measure.ts'
import { recordRun, sectionOf, writeSection } from './report.ts'
import {
  addListed,
  type ByteServer,
  contentAddress,
  debian,
  type Endpoint,
  findNode,
  type Holdfast,
  type Server,
  startApache,
  startBare,
  startHoldfast,
  startNginx,
  startRclone,
  startTus,
} from './servers.ts'

const SMALL = 100 * 1024
const LISTED = 10_000
const THOUSAND = 1000

/** Sizes and counts of a run. */
interface Amounts {
  readonly big: number
  readonly small: number
  readonly ranges: number
  readonly zipped: number
  /** Seconds of requests. */
  readonly seconds: number
}

/** Writes its section of results.md, and a line of history.jsonl, when the run is whole. */
export async function machine({ quick, rounds, only, against, profile }: Options): Promise<void> {
  const amounts = quick
    ? { big: 256 * MIB, small: 200, ranges: 200, zipped: 1000, seconds: 2 }
    : { big: GIB, small: 1000, ranges: 1000, zipped: 10_000, seconds: 5 }
  await using ending = new AsyncDisposableStack()
  const data = join(import.meta.dir, '../data')
  mkdirSync(data, { recursive: true })
  const folder = ending.adopt(mkdtempSync(join(data, 'bench-')), (made) => rmSync(made, { recursive: true }))
  // Apache serves as a user of its own.
  chmodSync(folder, 0o755)
  const { bavail, bsize } = statfsSync(folder)
  const needed = (12 * rounds + 12) * amounts.big
  if (bavail * bsize < needed) throw new Error(`${Math.ceil(needed / GIB)} GiB must be free under ${data}`)
  const use = <S extends Server | null>(server: S): S => {
    if (server !== null) ending.defer(() => server.stop())
    return server
  }
  const missing: string[] = []
  const orMissing = (peer: ByteServer | null, name: string) => {
    if (peer === null) missing.push(`${name}: \`apt-get install ${name}\``)
    return use(peer)
  }
  const all = [
    orMissing(await startNginx(join(folder, 'nginx')), 'nginx'),
    orMissing(await startApache(join(folder, 'apache')), 'apache2-bin'),
    orMissing(await startRclone(join(folder, 'rclone')), 'rclone'),
  ]
  const bare = use(await startBare(join(folder, 'bare')))
  const byteServers = [...all.filter((peer) => peer !== null), bare]
  const tus = new Map([
    ['@tus/server on Bun', use(await startTus(join(folder, 'tus-bun'), process.execPath))],
  ])
  const node = findNode()
  if (node === null) missing.push('@tus/server on Node.js, because that is not installed')
  else tus.set('@tus/server on Node.js', use(await startTus(join(folder, 'tus-node'), node)))

  const trees = new Map([[OURS, use(await startHoldfast(join(folder, 'holdfast'), { profile }))]])
  if (against !== undefined)
    trees.set('Holdfast, other tree', use(await startHoldfast(join(folder, 'other'), { tree: against })))
  const hosts = await Promise.all(
    Array.from(trees, async ([name, holdfast]) => prepare(name, holdfast, amounts, folder)),
  )
  for (const { folder: files } of byteServers) writeContent(join(files, 'source.bin'), amounts.big, 0)

  const scenarios = [
    ...uploads(hosts, byteServers, amounts),
    ...resumable(hosts, tus, amounts),
    ...downloads(hosts, byteServers, amounts),
    zip(hosts),
    ...(debian('wrk') === null ? [] : await requests(hosts, bare, amounts)),
    ...commands(hosts, amounts, folder),
  ].filter(({ title }) => only.length === 0 || only.some((part) => title.includes(part)))
  if (debian('wrk') === null) missing.push('requests: `apt-get install wrk`')

  const peers = [...byteServers, ...[...tus.values()].slice(0, 1)].map(({ name }) => name)
  const run = {
    heading: 'One machine',
    program: 'machine',
    rounds,
    peers: [`peers: ${peers.join(', ')}`],
    missing,
    measured: await measureAll(scenarios, rounds, folder),
  }
  const section = sectionOf(run)
  console.log(section)
  if (quick || only.length > 0 || against !== undefined || profile !== undefined) return
  writeSection(section)
  recordRun(run)
}

/** A Holdfast with what is read from it. */
interface Host {
  readonly name: string
  readonly server: Holdfast
  readonly key: string
  /** A file of `Amounts.big` bytes. */
  readonly slug: string
  /** Files of 100 KiB in one folder. */
  readonly zipped: { readonly folder: string; readonly slugs: readonly string[] }
  readonly listed: { readonly key: string; readonly slug: string }
  /** Folder for files to send. */
  readonly scratch: string
}

async function prepare(name: string, server: Holdfast, amounts: Amounts, folder: string): Promise<Host> {
  const key = await server.addAccount('bench')
  const to = form(server, key)
  // Two uploads, so that the server is warm for the first one that is measured.
  const big = { kind: 'upload', to, size: amounts.big, count: 2, connections: 1, first: 0 } as const
  const [slug = ''] = (await runClient(big)).names
  console.error(`uploading ${amounts.zipped} files of 100 KiB for a zip`)
  const slugs: string[] = []
  for (let first = 0; first < amounts.zipped; first += THOUSAND) {
    const job = {
      kind: 'upload',
      to,
      size: SMALL,
      count: THOUSAND,
      connections: 16,
      first: 2e9 + first,
    } as const
    slugs.push(...(await runClient(job)).names)
  }
  const scratch = join(folder, `scratch-${key.slice(-8)}`)
  mkdirSync(scratch)
  const zipped = { folder: await folderOf(server, key, slugs), slugs }
  return { name, server, key, slug, zipped, listed: await addListed(server, LISTED), scratch }
}

/** Moves the files into a new folder; returns its identifier. */
async function folderOf({ url }: Endpoint, key: string, slugs: readonly string[]): Promise<string> {
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.text()
  }
  const { data }: { data: { identifier: string } } = JSON.parse(await post('/api/v1/folder', { name: 'zip' }))
  for (let at = 0; at < slugs.length; at += 200)
    await post('/api/v1/files/move', { files: slugs.slice(at, at + 200), folder: data.identifier })
  return data.identifier
}

function form({ url }: Endpoint, key: string): UploadTarget {
  return { by: 'form', url: `${url}/api/v1/upload`, key }
}

/** Number of the next content; unique within a run. */
let next = 1

function uploads(hosts: readonly Host[], peers: readonly ByteServer[], amounts: Amounts): Scenario[] {
  const contenders = (size: number, count: number, connections: number): Contender[] => {
    const sending = (name: string, server: Endpoint, to: UploadTarget) =>
      uploader(name, server, to, { size, count, connections })
    return [
      ...hosts.map(({ name, server, key }) => sending(name, server, form(server, key))),
      ...hosts.map(({ name, server, key }) =>
        sending(`${name}, PUT`, server, { by: 'put', url: `${server.url}/`, key }),
      ),
      ...peers.flatMap((peer) => {
        const syncIn = peer.name.startsWith('bare') ? {} : { syncIn: peer.folder }
        const put = (location: string, name: string) =>
          sending(name, peer, { by: 'put', url: `${peer.url}/${location}/`, ...syncIn })
        const buffered = peer.name.startsWith('nginx') && count === 1
        return [put('put', short(peer)), ...(buffered ? [put('put-1m', 'nginx, 1 MiB buffer')] : [])]
      }),
    ]
  }
  const small = (title: string, connections: number): Scenario => ({
    title: `Upload of ${amounts.small} files of 100 KiB, ${title}`,
    unit: 'files/s',
    per: '1,000 files',
    writes: amounts.small * SMALL,
    goals: [
      { least: 1, of: 'Apache mod_dav' },
      { least: 1, of: 'rclone serve webdav' },
      { least: 0.4, of: 'nginx' },
    ],
    contenders: contenders(SMALL, amounts.small, connections),
  })
  return [
    {
      title: 'Upload of one big file',
      unit: 'MiB/s',
      per: 'GiB',
      writes: amounts.big,
      goals: [
        { least: 1.3, of: 'nginx' },
        { least: 1, of: 'Apache mod_dav' },
        { least: 1, of: 'rclone serve webdav' },
      ],
      contenders: contenders(amounts.big, 1, 1),
    },
    small('one after another', 1),
    small('16 at once', 16),
  ]
}

/** Without the version. */
function short({ name }: ByteServer): string {
  return name.replace(/ [\d.]+$/, '')
}

function uploader(
  name: string,
  server: Endpoint,
  to: UploadTarget,
  {
    size,
    count,
    connections,
  }: { readonly size: number; readonly count: number; readonly connections: number },
): Contender {
  const unit = count > 1 ? size : MIB
  return {
    name,
    async run(): Promise<Measurement> {
      const job: Job = { kind: 'upload', to, size, count, connections, first: next }
      next += count
      const { result, sample } = await withUsage(server, () => runClient(job))
      const { syncIn } = 'syncIn' in to ? to : {}
      if (syncIn !== undefined) for (const file of result.names) rmSync(join(syncIn, file))
      return sample(result.bytes / unit / result.seconds, count > 1 ? count / THOUSAND : result.bytes / GIB)
    },
  }
}

function resumable(
  hosts: readonly Host[],
  peers: ReadonlyMap<string, ByteServer>,
  { big }: Amounts,
): Scenario[] {
  const scenario = (title: string, patch: number): Scenario => {
    const one = { size: big, count: 1, connections: 1 }
    return {
      title: `Resumable upload of one big file, ${title}`,
      unit: 'MiB/s',
      per: 'GiB',
      writes: big,
      goals: [{ least: 1.5, of: '@tus/server on Node.js' }],
      contenders: [
        ...hosts.map(({ name, server, key }) =>
          uploader(name, server, { by: 'tus', url: `${server.url}/api/v1/uploads`, key, patch }, one),
        ),
        ...Array.from(peers, ([name, peer]) =>
          uploader(name, peer, { by: 'tus', url: `${peer.url}/files`, patch, syncIn: peer.folder }, one),
        ),
      ],
    }
  }
  return [scenario('in one PATCH', big), scenario('16 MiB a PATCH', 16 * MIB)]
}

function downloads(
  hosts: readonly Host[],
  peers: readonly ByteServer[],
  { big, ranges }: Amounts,
): Scenario[] {
  const contenders = (
    job: (url: string) => Job,
    rate: (result: { bytes: number; seconds: number }) => number,
  ) => [
    ...hosts.map(({ name, server, slug }) =>
      reader(name, server, async () => job(await contentAddress(server, slug)), rate),
    ),
    ...peers.map((peer) => {
      const location = peer.name.startsWith('rclone') ? 'put' : 'files'
      return reader(short(peer), peer, async () => job(`${peer.url}/${location}/source.bin`), rate)
    }),
  ]
  return [
    {
      title: 'Download of one big file',
      unit: 'MiB/s',
      per: 'GiB',
      goals: [{ least: 0.9, of: 'nginx' }],
      contenders: contenders(
        (url) => ({ kind: 'download', urls: [url] }),
        ({ bytes, seconds }) => bytes / MIB / seconds,
      ),
    },
    {
      title: `${ranges} random ranges of 1 MiB`,
      unit: 'ranges/s',
      per: 'GiB',
      goals: [
        { least: 0.6, of: 'nginx' },
        { least: 1, of: 'Apache mod_dav' },
      ],
      contenders: contenders(
        (url) => ({ kind: 'ranges', url, count: ranges, length: MIB, size: big }),
        ({ seconds }) => ranges / seconds,
      ),
    },
  ]
}

/** Runs the job once unmeasured, so that every contender reads from memory. */
function reader(
  name: string,
  server: Endpoint,
  job: () => Promise<Job>,
  rate: (result: { readonly bytes: number; readonly seconds: number }) => number,
): Contender {
  return {
    name,
    async run() {
      const wanted = await job()
      await runClient(wanted)
      const { result, sample } = await withUsage(server, () => runClient(wanted))
      return sample(rate(result), result.bytes / GIB)
    },
  }
}

function zip(hosts: readonly Host[]): Scenario {
  const rate = ({ bytes, seconds }: { bytes: number; seconds: number }) => bytes / MIB / seconds
  return {
    title: 'Zip of files of 100 KiB',
    unit: 'MiB/s',
    per: 'GiB',
    goals: [{ least: 2, of: 'the same files one by one' }],
    contenders: [
      ...hosts.map(({ name, server, zipped }) =>
        reader(
          name,
          server,
          async () => ({ kind: 'download', urls: [`${server.url}/f/${zipped.folder}?download=zip`] }),
          rate,
        ),
      ),
      ...hosts.slice(0, 1).map(({ server, zipped }) =>
        reader(
          'the same files one by one',
          server,
          async () => {
            const urls: string[] = []
            for (const slug of zipped.slugs) urls.push(await contentAddress(server, slug))
            return { kind: 'download', urls }
          },
          rate,
        ),
      ),
    ],
  }
}

/** The bare server serializes the same answers from constants: no key, no database, no log. */
async function requests(hosts: readonly Host[], bare: Endpoint, { seconds }: Amounts): Promise<Scenario[]> {
  const scenario = async (
    title: string,
    least: number,
    path: (slug: string) => string,
  ): Promise<Scenario> => {
    const [first] = hosts
    if (first === undefined) throw new Error('there is no Holdfast')
    const constant = `${bare.url}/json/${encodeURIComponent(title)}`
    const headers = { Authorization: `Bearer ${first.listed.key}` }
    const answer = await fetch(first.server.url + path(first.listed.slug), { headers })
    await fetch(constant, { method: 'POST', body: await answer.text() })
    return {
      title,
      unit: 'requests/s',
      per: '1,000 requests',
      goals: [{ least, of: 'bare Bun server, constant answer' }],
      contenders: [
        ...hosts.map(({ name, server, listed }) =>
          loaded(name, server, server.url + path(listed.slug), listed.key, seconds),
        ),
        loaded('bare Bun server, constant answer', bare, constant, '', seconds),
      ],
    }
  }
  return [
    await scenario('File detail, with a key', 0.15, (slug) => `/api/v1/file/${slug}`),
    await scenario(`First page, 100 of ${LISTED} files`, 0.12, () => '/api/v1/files?per_page=100'),
  ]
}

/** wrk with 32 kept connections and without pipelining. Throws when any answer was an error. */
export function loaded(name: string, server: Endpoint, url: string, key: string, seconds: number): Contender {
  const words = ['wrk', '-t1', '-c32', `-d${seconds}s`, '-H', `Authorization: Bearer ${key}`, url]
  return {
    name,
    async run() {
      const { result, sample } = await withUsage(server, () => runProgram(words))
      const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(result.output)?.[1])
      const count = Number(/(\d+) requests in/.exec(result.output)?.[1])
      if (result.code !== 0 || !(rate > 0) || /Non-2xx|Socket errors/.test(result.output))
        throw new Error(`wrk: ${result.output}`)
      return sample(rate, count / THOUSAND)
    },
  }
}

/** `holdfast upload` beside curl, as whole commands from their start to their end. */
function commands(hosts: readonly Host[], { big, small }: Amounts, folder: string): Scenario[] {
  const curl = (name: string, { server, key }: Host, count: number, size: number) =>
    command(name, folder, count, size, (files) => [
      ...['curl', '-sS', '-H', `Authorization: Bearer ${key}`],
      ...files.flatMap((file, at) => [
        ...(at === 0 ? [] : ['--next', '-sS', '-H', `Authorization: Bearer ${key}`]),
        ...['-F', `file=@${file}`, `${server.url}/api/v1/upload`],
      ]),
    ])
  const ours = ({ name, server, key, scratch }: Host, count: number, size: number) =>
    command(
      name,
      folder,
      count,
      size,
      (files) => [process.execPath, join(import.meta.dir, '../src/main.ts'), 'upload', ...files],
      {
        HOLDFAST_SERVER: server.url,
        HOLDFAST_API_KEY: key,
        XDG_CONFIG_HOME: join(scratch, 'config'),
        XDG_STATE_HOME: join(scratch, 'state'),
      },
    )
  const scenario = (title: string, count: number, size: number, least: number): Scenario => ({
    title: `Command line: upload of ${title}`,
    unit: count > 1 ? 'files/s' : 'MiB/s',
    per: count > 1 ? '1,000 files' : 'GiB',
    writes: 2 * count * size,
    goals: [{ least, of: 'curl -F, one process' }],
    contenders: [
      ...hosts.slice(0, 1).map((host) => ours(host, count, size)),
      ...hosts.slice(0, 1).map((host) => curl('curl -F, one process', host, count, size)),
    ],
  })
  return [scenario('one big file', 1, big, 0.8), scenario(`${small} files of 100 KiB`, small, SMALL, 0.8)]
}

/** Writes and syncs the files first, so that the upload does not compete with the writing of its source. */
function command(
  name: string,
  folder: string,
  count: number,
  size: number,
  words: (files: readonly string[]) => string[],
  env: Readonly<Record<string, string>> = {},
): Contender {
  return {
    name,
    async run() {
      const files = Array.from({ length: count }, (_, at) => join(folder, `send-${next + at}.bin`))
      for (const file of files) writeContent(file, size, next++)
      Bun.spawnSync(['sync', '--file-system', folder])
      using output = closing(outputFile())
      const start = performance.now()
      const child = Bun.spawn(words(files), {
        env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
        stdin: 'ignore',
        stdout: output.descriptor,
        stderr: 'inherit',
      })
      const code = await child.exited
      const seconds = (performance.now() - start) / 1000
      for (const file of files) rmSync(file)
      const links = output.text().match(/\/d\/\w+"?,?$|"slug"/gm)?.length ?? 0
      if (code !== 0 || links < count) throw new Error(`${name}: code ${code}, ${links} of ${count} files`)
      const used = child.resourceUsage()
      const done = count > 1 ? count / THOUSAND : size / GIB
      return {
        rate: count > 1 ? count / seconds : size / MIB / seconds,
        cpu: used === undefined ? null : Number(used.cpuTime.total) / 1e6 / done,
        peak: null,
      }
    },
  }
}

function closing<T extends { close(): void }>(it: T): T & Disposable {
  return Object.assign(it, { [Symbol.dispose]: () => it.close() })
}

function writeContent(path: string, size: number, number: number): void {
  const file = openSync(path, 'w')
  for (const piece of content(size, number)) writeSync(file, piece)
  closeSync(file)
}
