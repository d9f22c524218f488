import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, openToOthers } from '../../config.ts'
import { isLoopback } from '../../core/unknown-proxies.ts'
import { formatSize } from '../../domain/sizes.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, reasonOf, say, unknown } from './findings.ts'

const FLEETING = ['tmpfs', 'ramfs']
const REMOTE = /^(nfs|cifs|smb|9p|fuse|ceph|glusterfs)/
/** Mount options that let a disk answer before bytes are safe. */
const UNSAFE = ['nobarrier', 'barrier=0']

const SYNCS = 15
/** Milliseconds: the server examines itself on its main thread and serves no request meanwhile. */
const LONGEST_SYNCS = 50
/** Milliseconds: a real disk needs at least this for 4 KiB. */
const FASTEST_SYNC = 0.015
const FEW_INODES = 0.05
/** Bytes: a lower floor only lets the disk run full. */
const LEAST_FLOOR = 256 * 1024 * 1024
/** Bytes below which a delete may fail. */
const FULL = 32 * 1024 * 1024

export async function checkDisk(folder: string, floor: number): Promise<Finding[]> {
  return [await room(folder, floor), await inodes(folder), await kind(folder), await syncing(folder)]
}

async function room(folder: string, floor: number): Promise<Finding> {
  const { bavail, bsize, blocks } = await statfs(folder)
  const free = bavail * bsize
  const what = say`${formatSize(free)} of ${formatSize(blocks * bsize)} are free`
  const making = {
    where: 'shell',
    line: 'holdfast admin files --largest, and delete what is not needed; or enlarge the disk',
  }
  const lowering = { where: 'Holdfast', line: `${settings.minFreeSpace.variable}=<less than what is free>` }
  const changes = free < LEAST_FLOOR ? [making] : [making, lowering]
  if (free < FULL) {
    const why = say`Uploads are refused, and before long nothing can be changed or deleted.`
    return problem('disk-space', what, why, changes)
  }
  if (free < floor) {
    return problem('disk-space', what, say`Uploads are refused below ${formatSize(floor)}.`, changes)
  }
  if (free < 2 * floor) {
    return advice(
      'disk-space',
      what,
      say`Uploads of guests are refused below ${formatSize(2 * floor)}.`,
      changes,
    )
  }
  return fine('disk-space', what)
}

async function inodes(folder: string): Promise<Finding> {
  const { files, ffree } = await statfs(folder)
  // Btrfs and others create inodes on demand, and report 0.
  if (files === 0) return fine('inodes', say`the file system has as many inodes as it needs`)
  const what = say`${ffree.toLocaleString('en')} of ${files.toLocaleString('en')} inodes are free`
  if (ffree / files > FEW_INODES) return fine('inodes', what)
  return problem('inodes', what, say`Each stored content needs one; without them the disk counts as full.`, [
    {
      where: 'shell',
      line: 'move the data folder to a file system made with more (mkfs.ext4 -T small, or XFS)',
    },
  ])
}

interface Mount {
  readonly place: string
  readonly type: string
  readonly options: readonly string[]
}

async function kind(folder: string): Promise<Finding> {
  const mount = await mountOf(folder).catch(() => null)
  if (mount === null) return unknown('file-system', say`its kind cannot be found out here`)
  const { place, type, options } = mount
  if (FLEETING.includes(type)) {
    return problem(
      'file-system',
      say`${folder} lies in memory (${type})`,
      say`A restart deletes all files.`,
      [{ where: 'Holdfast', line: `${settings.dataDir.variable}=<a folder on a disk>` }],
    )
  }
  const unsafe = options.filter((option) => UNSAFE.includes(option))
  if (unsafe.length > 0) {
    return problem(
      'file-system',
      say`${place} is mounted with ${unsafe.join(', ')}`,
      say`A power cut can lose what was answered as stored.`,
      [{ where: '/etc/fstab', line: `remove ${unsafe.join(', ')} from the options of ${place}` }],
    )
  }
  if (REMOTE.test(type)) {
    return advice(
      'file-system',
      say`${folder} lies on ${type}`,
      say`SQLite needs locks and syncs that network file systems often only pretend to have.`,
      [
        {
          where: 'Holdfast',
          line: `${settings.databaseUrl.variable}=<PostgreSQL>, or a folder on a local disk`,
        },
      ],
    )
  }
  return fine('file-system', say`${place} is ${type}`)
}

/** The innermost mount that holds the folder (proc(5), mountinfo). */
async function mountOf(folder: string): Promise<Mount | null> {
  const path = await realpath(folder)
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n')
  let innermost: Mount | null = null
  for (const line of lines) {
    const [own = '', rest = ''] = line.split(' - ')
    const [, , , , escaped = '', options = ''] = own.split(' ')
    const [type = '', , superOptions = ''] = rest.split(' ')
    const place = escaped.replace(/\\(\d{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    )
    const isAbove = path === place || path.startsWith(place === '/' ? '/' : `${place}/`)
    // Of two mounts at one place the later one counts.
    if (!isAbove || (innermost !== null && place.length < innermost.place.length)) continue
    innermost = { place, type, options: [...options.split(','), ...superOptions.split(',')] }
  }
  return innermost
}

async function syncing(folder: string): Promise<Finding> {
  const check = 'sync'
  const scratch = await mkdtemp(join(folder, 'doctor-')).catch((error: Error) => error)
  if (scratch instanceof Error) return unknown(check, say`${folder} cannot be written: ${reasonOf(scratch)}`)
  try {
    const median = medianSync(join(scratch, 'sync'))
    const time = median.toFixed(2)
    if (median >= FASTEST_SYNC) return fine(check, say`a sync of 4 KiB takes ${time} ms`)
    return problem(
      check,
      say`a sync of 4 KiB takes ${time} ms, which no disk can do`,
      say`Something below answers before bytes are safe (a cache that lies, or a virtual disk with "unsafe" caching): a power cut can lose what was answered as stored.`,
      [{ where: 'QEMU', line: 'cache=none' }],
    )
  } catch (error) {
    return unknown(check, say`${folder} cannot be written: ${reasonOf(error)}`)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Milliseconds. Synchronous: a thread's turn takes longer than a sync in memory. */
function medianSync(path: string): number {
  const file = openSync(path, 'w', 0o600)
  try {
    const page = new Uint8Array(4096)
    const times: number[] = []
    const until = performance.now() + LONGEST_SYNCS
    for (let round = 0; round < SYNCS && performance.now() < until; round++) {
      page.fill(round)
      writeSync(file, page)
      const began = performance.now()
      fdatasyncSync(file)
      times.push(performance.now() - began)
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  } finally {
    closeSync(file)
  }
}

export async function checkClock(): Promise<Finding> {
  const check = 'clock'
  const unknowable = unknown(check, say`whether the clock is synchronized cannot be found out here`)
  if (Bun.which('timedatectl') === null) return unknowable
  const asked = Bun.spawn(['timedatectl', 'show', '--property=NTPSynchronized', '--value'], {
    stdin: 'ignore',
    stderr: 'ignore',
    timeout: 5000,
  })
  const answer = (await asked.stdout.text()).trim()
  if (answer === 'yes') return fine(check, say`the clock is synchronized`)
  if (answer !== 'no') return unknowable
  return problem(
    check,
    say`the clock is not synchronized`,
    say`Links, sessions and codes of authenticator apps end too early or too late.`,
    [{ where: 'shell', line: 'timedatectl set-ntp true' }],
  )
}

export function checkSettings(config: Config): readonly Finding[] {
  const found = [redirect(config), provider(config), largestFile(config)].filter(
    (finding) => finding !== null,
  )
  const secrets = checkSecretFiles(config)
  if (found.length === 0) return [fine('settings', say`no setting stands in the way of another`), ...secrets]
  return [...found, ...secrets]
}

function checkSecretFiles({ secretFiles }: Config): Finding[] {
  if (secretFiles.length === 0) return []
  const open = openToOthers(secretFiles)
  if (open.length === 0)
    return [fine('secret-files', say`files with secrets are open to nobody but their owner and group`)]
  return open.map(({ variable, path }) =>
    problem(
      'secret-files',
      say`everybody on this machine can read ${path}, the secret of ${variable}`,
      say`Every program that runs here, of whatever user, can act as this server.`,
      [{ where: 'shell', line: `chmod o= ${path}` }],
    ),
  )
}

function redirect({ s3, s3Redirect, publicUrl }: Config): Finding | null {
  if (s3 === null || !s3Redirect) return null
  const store = new URL(s3.endpoint)
  const change = {
    where: 'Holdfast',
    line: `${settings.s3Endpoint.variable}=https://<a name that visitors reach>, or ${settings.s3Redirect.variable}=false`,
  }
  if (isLoopback(store)) {
    return problem('settings', say`downloads lead to ${store.origin}`, say`Only this machine can open it.`, [
      change,
    ])
  }
  if (publicUrl?.startsWith('https:') && store.protocol === 'http:') {
    const why = say`Browsers refuse http content on an https page: pictures, films and downloads stay empty.`
    return problem('settings', say`downloads lead from https to ${store.origin}`, why, [change])
  }
  return null
}

function provider({ oidc }: Config): Finding | null {
  if (oidc === null) return null
  const issuer = new URL(oidc.issuer)
  if (issuer.protocol === 'https:' || isLoopback(issuer)) return null
  return problem(
    'settings',
    say`signing in with ${oidc.name} is off`,
    say`Its answers could be forged on their way.`,
    [{ where: 'Holdfast', line: `${settings.oidcIssuer.variable}=https://${issuer.host}` }],
  )
}

function largestFile({ guestUploads, guestStorage, guestHourlySize, maxFileSize }: Config): Finding | null {
  const most = Math.min(guestStorage, guestHourlySize)
  if (!guestUploads || maxFileSize <= most) return null
  return advice(
    'settings',
    say`a guest may send ${formatSize(most)}, a file may have ${formatSize(maxFileSize)}`,
    say`Guests who choose a file in between are refused by a limit that is not about files.`,
    [
      {
        where: 'Holdfast',
        line: `${guestHourlySize < guestStorage ? settings.guestHourlySize.variable : settings.guestStorage.variable}=${formatSize(maxFileSize)}`,
      },
    ],
  )
}
