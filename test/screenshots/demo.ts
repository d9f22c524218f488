/** What a server shows when its pictures are taken: all of it is made here. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inTransaction } from '../../src/database/transactions.ts'
import { DAY } from '../../src/domain/clock.ts'
import type { AccountId } from '../../src/domain/ids.ts'
import type { ReportReason } from '../../src/domain/report.ts'
import { addRequests } from '../../src/files/use-counters.ts'
import { api } from '../support/clients/api.ts'
import { intoBin } from '../support/clients/bin.ts'
import { type Bytes, makeFolder, textBytes, type Uploaded, upload } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import type { TestHoldfast } from '../support/servers/holdfast.ts'
import { administrator as administers } from '../support/sign-in/administrator.ts'
import { landscape } from './landscapes.ts'
import { fillLinks, type LinkPages } from './link-scenes.ts'

export interface Demo {
  /** Whose all of it is. */
  readonly key: string
  /** What a browser has where they are signed in, by name. */
  readonly cookies: ReadonlyMap<string, string>
  /** The same of whoever runs the server. */
  readonly administrator: ReadonlyMap<string, string>
  readonly picture: Uploaded
  readonly video: Uploaded
  readonly text: Uploaded
  /** Identifiers of folders. */
  readonly gallery: string
  readonly list: string
  readonly locked: string
  readonly linkPages: LinkPages
}

const MINUTES = 60_000

export async function fillDemo(host: TestHoldfast): Promise<Demo> {
  const { id, username, apiKey: key } = await host.addAccount('ana')
  const put = async (folder: string, name: string, bytes: Bytes, type?: string): Promise<Uploaded> => {
    host.clock.advance(7 * MINUTES)
    return upload(host, { key, folder, name, bytes, ...(type === undefined ? {} : { type }) })
  }
  const coast = await makeFolder(host, key, { name: 'A week by the sea' })
  for (const name of ['Sunday', 'Maps and tickets']) {
    const inner = await makeFolder(host, key, { name, parent: coast })
    await put(inner, 'One more.jpg', await landscape(30, 400))
  }
  const video = await put(coast, 'Waves at dusk.webm', await film())
  const pictures: Uploaded[] = []
  for (const [at, name] of PICTURES.entries()) pictures.push(await put(coast, name, await landscape(at)))
  const [, , picture] = pictures
  if (picture === undefined) throw new Error('the demo has no pictures')

  const papers = await makeFolder(host, key, { name: 'Field notes' })
  await makeFolder(host, key, { name: 'Raw data', parent: papers, password: 'kelp' })
  await makeFolder(host, key, { name: 'Figures', parent: papers })
  for (const [name, size] of PAPERS) await put(papers, name, new Uint8Array(size).fill(65))
  const text = await put(papers, 'tides.py', textBytes(PROGRAM), 'text/x-python')
  await put(papers, 'README.md', textBytes('# Field notes\n\nWhat was seen, where and when.\n'))
  await throwAway(host, key, put)
  const locked = await makeFolder(host, key, { name: 'For the family', password: 'kelp' })
  await host.runJobs()
  await addMonth(host, id as AccountId)
  await report(host, video.slug, 'copyright', 'This film is ours: it is on our site since last year.')
  await report(host, text.slug, 'malware')
  const { cookies } = await signedIn(host, username)
  const administrator = (await administers(host)).cookies
  const linkPages = await fillLinks(host, key)
  const files = { picture, video, text, gallery: coast, list: papers, locked }
  return { key, cookies, administrator, ...files, linkPages }
}

/** Two files and a folder are in the bin. */
async function throwAway(
  host: TestHoldfast,
  key: string,
  put: (folder: string, name: string, bytes: Bytes) => Promise<Uploaded>,
): Promise<void> {
  const drafts = await makeFolder(host, key, { name: 'Drafts' })
  const files: string[] = []
  for (const [name, size] of THROWN_AWAY)
    files.push((await put(drafts, name, new Uint8Array(size).fill(66))).slug)
  const blurred = await makeFolder(host, key, { name: 'Blurred and double' })
  await put(blurred, 'Once more.jpg', await landscape(31, 400))
  await intoBin(api(host, key), { files })
  host.clock.advance(DAY)
  await intoBin(api(host, key), { folders: [blurred, drafts] })
}

/** What somebody has against a file. */
async function report(host: TestHoldfast, slug: string, reason: ReportReason, text?: string): Promise<void> {
  const said = { slug, reason, ...(text === undefined ? {} : { text }) }
  await api(host).post('/api/v1/file/report', said)
}

/** Requests of a program that runs every day and rests at weekends. */
async function addMonth({ clock, database }: TestHoldfast, account: AccountId): Promise<void> {
  for (let ago = 1; ago < 30; ago++) {
    const at = new Date(clock.now() - ago * DAY)
    const many = [0, 6].includes(at.getUTCDay()) ? 12 : 140
    const day = at.toISOString().slice(0, 10)
    const requests = many + ((ago * 37) % 90)
    await inTransaction(database, (trx) => addRequests(trx, account, day, requests))
    // The server may have counted that day itself.
    await database
      .insertInto('days')
      .values(dayOf(day, requests, ago))
      .onConflict((conflict) => conflict.column('day').doUpdateSet(dayOf(day, requests, ago)))
      .execute()
  }
}

/** What the whole server does while one program makes so many requests. */
function dayOf(day: string, requests: number, ago: number) {
  return {
    day,
    requests: requests * 61,
    bytes_in: requests * 21e6,
    bytes_out: requests * 170e6,
    uploads: requests * 2,
    downloads: requests * 9,
    accounts: ago > 20 ? 1 : 2,
    files: 25 - Math.floor(ago / 2),
    storage_used: 63e6 - ago * 1.9e6,
  }
}

const PICTURES = [
  'Morning above the bay.jpg',
  'The long way down.jpg',
  'Kelp forest.jpg',
  'Before the rain.jpg',
  'North ridge.jpg',
  'Under the pier.jpg',
  'Last light, seen from the lighthouse on the evening of the second day.jpg',
  'Dusk.jpg',
  'Where the seals sleep.jpg',
  'صباح على الخليج.jpg',
  'Green hills.jpg',
]

const PAPERS: readonly (readonly [string, number])[] = [
  ['Interview with the harbour master.m4a', 18_400_321],
  ['Survey of the north shore, third and final version with comments.docx', 2_204_113],
  ['Water temperature 2019–2026.csv', 884_210],
  ['Permit.pdf', 341_887],
  ['samples.zip', 9_120_554],
  ['Budget.xlsx', 48_212],
]

const THROWN_AWAY: readonly (readonly [string, number])[] = [
  ['Survey of the north shore, second version.docx', 2_104_730],
  ['Old boat.mp4', 31_604_112],
]

const PROGRAM = `"""Tells when the tide turns, from a table of heights."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Reading:
    at: datetime
    metres: float


def turns(readings: list[Reading]) -> list[Reading]:
    """The readings at which the water stops rising, or falling."""
    found = []
    for before, present, after in zip(readings, readings[1:], readings[2:]):
        rises = present.metres > before.metres
        falls_next = after.metres < present.metres
        if rises == falls_next:
            found.append(present)
    return found


if __name__ == "__main__":
    for reading in turns(list(read_table("heights.csv"))):
        print(f"{reading.at:%H:%M}  {reading.metres:5.2f} m")
`

/** Eight seconds along one of the landscapes. */
async function film(): Promise<Bytes> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-film-'))
  try {
    const still = join(folder, 'still.jpg')
    const made = join(folder, 'film.webm')
    await Bun.write(still, await landscape(6))
    const along = 'crop=1280:720:x=(in_w-out_w)*t/8:y=300,format=yuv420p'
    const encode = ['-c:v', 'libvpx-vp9', '-b:v', '900k', '-deadline', 'realtime', '-cpu-used', '8']
    const ffmpeg = Bun.spawn(
      [
        'ffmpeg',
        '-v',
        'error',
        '-loop',
        '1',
        '-framerate',
        '12',
        '-i',
        still,
        '-t',
        '8',
        '-vf',
        along,
        ...encode,
        made,
      ],
      { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
    )
    if ((await ffmpeg.exited) !== 0) throw new Error('ffmpeg failed')
    return await Bun.file(made).bytes()
  } finally {
    await rm(folder, { recursive: true })
  }
}
