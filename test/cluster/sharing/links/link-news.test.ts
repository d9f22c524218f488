/** Owners are told by mail of what came by their links and what happened to them, once and without a flood. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Language } from '../../../../src/domain/account.ts'
import { DAY, HOUR, MINUTE, timestamp } from '../../../../src/domain/clock.ts'
import { makeLink, revokeLink } from '../../../support/clients/links.ts'
import { GENEROUS, makeFolder, textBytes, upload, visit } from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { type MailServer, startMailServer } from '../../../support/sign-in/mail-server.ts'
import { verifyAddress } from '../../../support/sign-in/verified-address.ts'

let mails: MailServer
let host: TestHoldfast
beforeAll(async () => {
  mails = await startMailServer()
  host = await startHoldfast({ ...GENEROUS, publicUrl: 'http://files.example.org', mail: mails.config })
}, 120_000)
afterAll(async () => {
  await host.stop()
  await mails[Symbol.asyncDispose]()
})

async function asking(username: string, language: Language, { warnings = 1 as 0 | 1, uploads = {} } = {}) {
  const { id, apiKey: key } = await host.addAccount(username)
  const address = await verifyAddress(host.database, id, `${username}@example.org`, { language, warnings })
  const folder = await makeFolder(host, key, { name: 'Inbox' })
  const link = await makeLink(host, key, { folders: [folder], name: 'The trip', uploads })
  return { address, key, folder, link }
}

async function send(link: string, name: string, sender = ''): Promise<void> {
  const path = `/l/${link}/${name}${sender === '' ? '' : `?sender=${sender}`}`
  expect((await visit(host, path, { method: 'PUT', body: textBytes(name) })).status).toBe(200)
}

async function mailTo(address: string, later = 0) {
  host.clock.advance(later)
  await host.runJobs()
  return mails.take(address)
}

/** Downloads the only file of each link, and waits until that is told of. */
async function download(...links: string[]): Promise<void> {
  const kinds = ['link.first_download', 'link.downloaded'] as const
  const events = () =>
    host.database.selectFrom('link_events').select('id').where('kind', 'in', kinds).execute()
  const before = (await events()).length
  for (const link of links) {
    const to = await visit(host, `/l/${link}?download=1`)
    // The public address of this server leads nowhere.
    const { pathname, search } = new URL(to.headers.get('location') ?? '')
    const sent = await visit(host, pathname + search)
    expect((await sent.bytes()).length).toBe(95)
  }
  // A download ends a moment after its last byte.
  await eventually('the downloads are told of', async () => {
    await host.runJobs()
    return (await events()).length === before + links.length
  })
}

test('what came together is in one mail, in the owner’s language, and the next comes an hour later', async () => {
  const ann = await asking('ann', 'en')
  const bea = await asking('bea', 'de')
  const fields = { sender: 'optional' }
  const other = await makeLink(host, ann.key, { folders: [ann.folder], uploads: { fields } })
  await send(ann.link, 'one.jpg')
  await send(bea.link, 'eins.jpg')
  expect(await mailTo(ann.address)).toBeNull()
  host.clock.advance(3 * MINUTE)
  await send(ann.link, 'two.jpg')
  const first = await mailTo(ann.address, 3 * MINUTE)
  expect(first?.subject).toBe('2 files came by “The trip”')
  for (const name of ['one.jpg', 'two.jpg']) expect(first?.text).toContain(name)
  expect(first?.headers.get('list-unsubscribe')).toMatch(/^<http:\/\/files\.example\.org\/unsubscribe\/.+>$/)
  const toBea = mails.take(bea.address)
  expect(toBea?.subject).toBe('Eine Datei kam über „The trip“')

  await send(other, 'three.jpg', 'Your bank https://evil.example/login'.replaceAll(' ', '%20'))
  await send(ann.link, 'four.jpg')
  expect(await mailTo(ann.address, 30 * MINUTE)).toBeNull()
  const second = await mailTo(ann.address, 31 * MINUTE)
  expect(second?.subject).toBe('News of your links: 2')
  expect(second?.text).toContain('One file came by “Inbox”')
  expect(second?.text).toContain('three.jpg (Your bank https://evil.example/login)')
  // Of what strangers write mail programs make no link.
  expect(second?.written).not.toMatch(/:\/\/evil|evil\.example|three\.jpg/)
  expect(second?.text).not.toContain('one.jpg')
  expect(await mailTo(ann.address, 2 * HOUR)).toBeNull()
})

test('a mail names twenty files, says that a link is full, names nothing that was withdrawn, and nobody gets one who wants none', async () => {
  const chris = await asking('chris', 'en', { uploads: { max_files: 22 } })
  const dora = await asking('dora', 'en', { warnings: 0 })
  await send(dora.link, 'unwanted.jpg')
  const gone = await visit(host, `/l/${chris.link}/gone.jpg`, { method: 'PUT', body: textBytes('gone') })
  const receipt = gone.headers.get('holdfast-receipt')
  expect((await visit(host, `/api/v1/receipt/${receipt}`, { method: 'DELETE' })).status).toBe(200)
  for (let at = 1; at <= 22; at++) await send(chris.link, `${at}.jpg`)
  const mail = await mailTo(chris.address, 6 * MINUTE)
  expect(mail?.subject).toBe('News of your links: 2')
  expect(mail?.text).toContain('22 files came by “The trip”')
  expect(mail?.text).toContain('“The trip” has ended: all files that it takes have come')
  expect(mail?.text).toContain('and 2 more')
  expect(mail?.text).not.toContain('gone.jpg')
  expect(mails.take(dora.address)).toBeNull()
})

test('downloads, ends and a storage that is nearly full are told in one mail, once', async () => {
  const { address, key } = await asking('eva', 'en')
  const file = await upload(host, { key, name: 'plan.pdf', bytes: textBytes('x'.repeat(95)) })
  const untilNow = (time: number) => timestamp(host.clock.now() + time)
  const first = await makeLink(host, key, { files: [file.uuid], name: 'The plan' })
  const soon = { files: [file.uuid], name: 'Soon', ends_at: untilNow(2 * DAY + HOUR) }
  await makeLink(host, key, soon)
  const once = await makeLink(host, key, { files: [file.uuid], max_downloads: 1 })
  const revoked = await makeLink(host, key, { files: [file.uuid], name: 'Taken back' })
  await revokeLink(host, key, revoked)
  await download(first, once)
  await host.database.updateTable('accounts').set({ quota: 100 }).where('username', '=', 'eva').execute()
  host.clock.advance(DAY + 2 * HOUR)
  await host.runJobs()
  const mail = await mailTo(address, 6 * MINUTE)
  expect(mail?.subject).toBe('News of your links: 5')
  for (const line of [
    '“The plan” was downloaded for the first time',
    '“plan.pdf” was downloaded for the first time',
    '“plan.pdf” has ended: all its downloads were made',
    '“Soon” ends on ',
    'Your storage is nearly full: 95 B are used',
  ]) {
    expect(mail?.text).toContain(line)
  }
  expect(mail?.text).not.toContain('Taken back')
  await download(first)
  expect(await mailTo(address, 2 * HOUR)).toBeNull()
  const every = { download_mails: 'every' as const }
  await host.database.updateTable('mail_addresses').set(every).where('address', '=', address).execute()
  await download(first, first)
  expect((await mailTo(address, 2 * HOUR))?.subject).toBe('“The plan” was downloaded 2 times')
  host.clock.advance(DAY)
  await host.runJobs()
  expect((await mailTo(address, 6 * MINUTE))?.subject).toMatch(/^“Soon” ended on /)
})

test('a mail does not name a file of the link that somebody else has claimed', async () => {
  const [gil, hal] = [await asking('gil', 'en'), await asking('hal', 'en')]
  const sent: { uuid: string; receipt: string }[] = []
  for (const name of ['one.txt', 'two.txt']) {
    const answer = await visit(host, `/api/v1/upload/${name}`, {
      method: 'PUT',
      body: name,
      headers: { accept: 'application/json' },
    })
    sent.push((await answer.json()) as { uuid: string; receipt: string })
  }
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({
    receipts: sent.map(({ receipt }) => receipt),
    ends_at: timestamp(host.clock.now() + 2 * DAY + HOUR),
  })
  expect((await visit(host, '/api/v1/receipts/link', { method: 'POST', headers: json, body })).status).toBe(
    201,
  )
  for (const [at, { key }] of [gil, hal].entries()) {
    const headers = { ...json, authorization: `Bearer ${key}` }
    const address = `/api/v1/receipt/${sent[at]?.receipt}/claim`
    expect((await visit(host, address, { method: 'POST', headers, body: '{}' })).status).toBe(200)
  }
  host.clock.advance(DAY + 2 * HOUR)
  await host.runJobs()
  const mail = await mailTo(hal.address, 6 * MINUTE)
  expect(mail?.subject).toContain('“two.txt” ends on ')
  expect(mail?.text).not.toContain('one.txt')
})
