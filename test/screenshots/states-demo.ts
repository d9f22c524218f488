/** What is shown of states that the pictures of docs/images do not need. */

import { z } from 'zod'
import { markDamaged, type StoredCopy } from '../../src/core/damage.rows.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { DAY, timestamp } from '../../src/domain/clock.ts'
import type { AccountId, Slug } from '../../src/domain/ids.ts'
import { CODE, film, MARKDOWN, pdf, zip } from '../browser/shown-files.ts'
import { api } from '../support/clients/api.ts'
import { makeLink } from '../support/clients/links.ts'
import { type Bytes, makeFolder, textBytes, upload } from '../support/clients/public.ts'
import { PASSWORD, signedIn } from '../support/clients/site-visitor.ts'
import { tus } from '../support/clients/tus.ts'
import type { TestHoldfast } from '../support/servers/holdfast.ts'
import { codeOf } from '../support/sign-in/codes.ts'
import type { Demo } from './demo.ts'

export const LONG =
  'Minutes of the meeting of the harbour committee about the renewal of the western breakwater, final version.docx'
export const ARABIC = 'تقرير عن الرحلة البحرية (الجزء 2).pdf'

export interface StatesDemo extends Demo {
  /** Slugs of files, by what is to be seen of them. */
  readonly files: ReadonlyMap<string, string>
  /** Identifiers of folders, likewise. */
  readonly folders: ReadonlyMap<string, string>
  /** Paths of pages that a link opens once. */
  readonly links: ReadonlyMap<string, string>
  /** Somebody who has nothing yet. */
  readonly newcomer: ReadonlyMap<string, string>
  /** Somebody whose sign-in asks for a code. */
  readonly careful: string
  readonly accountId: number
}

export async function fillStates(host: TestHoldfast, demo: Demo): Promise<StatesDemo> {
  const { key } = demo
  const files = new Map<string, string>()
  const put = async (what: string, name: string, bytes: Bytes, folder?: string, type?: string) => {
    const options = { key, name, bytes, ...(folder === undefined ? {} : { folder }) }
    const { slug } = await upload(host, type === undefined ? options : { ...options, type })
    files.set(what, slug)
  }
  const kinds = await makeFolder(host, key, { name: 'One of each' })
  await put('audio', 'Interview.mp3', await film('mp3'), kinds)
  await put('pdf', ARABIC, pdf(['The first page', 'The second page']), kinds)
  await put('code', 'greet.ts', textBytes(CODE.repeat(4)), kinds)
  await put('markdown', 'README.md', textBytes(MARKDOWN), kinds)
  await put('table', 'Water temperature.csv', textBytes(TABLE), kinds)
  await put('archive', 'samples.zip', await zip(['a.txt', 'photos/one.jpg', `photos/${LONG}`]), kinds)
  await put('other', LONG, new Uint8Array(48_213).fill(65), kinds)
  await put('short', 'a', textBytes('a'), kinds)
  await put('empty', 'empty.txt', new Uint8Array(0), kinds)
  await put('damaged', 'Lost.bin', new Uint8Array(90_000).fill(67), kinds)
  await damage(host, files.get('damaged') ?? '')
  const hidden = await makeFolder(host, key, { name: 'Only for me', public: 0 })
  await put('private', 'Diary.txt', textBytes('Nobody else reads this.'), hidden)
  const locked = await makeFolder(host, key, { name: 'With a password', password: 'kelp' })
  await put('locked', 'Guest list.txt', textBytes('Ana, Ben'), locked)
  const nothing = await makeFolder(host, key, { name: 'Empty' })
  const many = await makeFolder(host, key, { name: 'Many' })
  for (let at = 1; at <= 120; at++) await put('many', `Reading ${at}.txt`, textBytes(`${at}`), many)
  const arriving = await tus(api(host, key)).start(1000, {
    filename: 'Film of the harbour.mp4',
    folder: kinds,
  })
  files.set('arriving', arriving.slug)
  const folders = new Map(Object.entries({ kinds, hidden, locked, nothing, many }))

  const made = await madeLinks(host, key, { kinds, hidden }, files)

  const { username: careful } = await host.addAccount('careful')
  const person = await signedIn(host, careful)
  const secret = z.object({ secret: z.string() })
  const codes = (await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })).data(secret)
  await person.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(codes.secret) })
  const { cookies: newcomer } = await signedIn(
    host,
    (await host.addAccount('new-here.with-a_long-name')).username,
  )
  const links = new Map([
    ...made,
    ['invitation', (await host.links.invitation(COMMAND_LINE)).path],
    ['password', (await host.links.password((await host.addAccount('forgetful')).username)).path],
  ])
  await host.runJobs()
  const row = host.database.selectFrom('accounts').select('id').where('username', '=', 'ana')
  const { id }: { id: AccountId } = await row.executeTakeFirstOrThrow()
  return { ...demo, files, folders, links, newcomer, careful, accountId: id }
}

/** Made links of every kind; each is opened by `link-<kind>`. */
async function madeLinks(
  host: TestHoldfast,
  key: string,
  { kinds, hidden }: { readonly kinds: string; readonly hidden: string },
  files: ReadonlyMap<string, string>,
): Promise<[string, string][]> {
  const [other = '', code = '', markdown = ''] = ['other', 'code', 'markdown'].map((what) => files.get(what))
  const message = 'Hello Ben,\nhere is everything for Thursday. Please tell me if something is missing.'
  const ends_at = timestamp(host.clock.now() + 7 * DAY)
  const ended = await makeLink(host, key, { files: [other], ends_at: timestamp(host.clock.now() + 1000) })
  host.clock.advance(1000)
  const usedUp = await makeLink(host, key, { folders: [hidden], max_downloads: 1 })
  await (await fetch(`${host.url}/l/${usedUp}?download=zip`)).bytes()
  const made = {
    file: await makeLink(host, key, { files: [other], name: 'For the printer', message, ends_at }),
    folder: await makeLink(host, key, { folders: [hidden], message, ends_at }),
    bundle: await makeLink(host, key, { files: [other, code, markdown], folders: [kinds], message, ends_at }),
    locked: await makeLink(host, key, { files: [other], password: 'kelp' }),
    ended,
    limited: await makeLink(host, key, { files: [other], max_downloads: 3, message, ends_at }),
    'used-up': usedUp,
  }
  return Object.entries(made).map(([what, slug]) => [`link-${what}`, `/l/${slug}`])
}

/** The store loses the end of it. */
async function damage(host: TestHoldfast, slug: string): Promise<void> {
  const blobs = host.database.selectFrom('files').innerJoin('blobs', 'blobs.id', 'files.blob_id')
  const row = blobs.select(['blobs.id', 'blobs.key']).where('slug', '=', slug as Slug)
  const copy: StoredCopy = await row.executeTakeFirstOrThrow()
  await host.cutBlob(copy.key, 100)
  await markDamaged(host.database, copy, 'size', host.clock.now())
}

const TABLE = [
  'day,place,metres,temperature,remark',
  ...Array.from(
    { length: 60 },
    (_, at) => `2026-06-${(at % 30) + 1},North pier,${at % 7},${12 + (at % 9)},"a remark, ${at}"`,
  ),
].join('\n')
