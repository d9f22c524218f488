/** What is sent by mail, to a real SMTP server, and where the links in it lead. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, HOUR, MINUTE } from '../../../src/domain/clock.ts'
import { api } from '../../support/clients/api.ts'
import { PASSWORD, signedIn, type Visitor, visitor } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestAccount, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { administrator } from '../../support/sign-in/administrator.ts'
import { codesAt } from '../../support/sign-in/codes.ts'
import { type MailServer, type ReceivedMail, startMailServer } from '../../support/sign-in/mail-server.ts'

const OTHER = 'granite lantern under moss'
const MAIL = '/api/v1/account/mail'
const FORGOTTEN = '/sign-in/forgotten'

const settings = z.object({
  is_on: z.boolean(),
  address: z.string().nullable(),
  pending: z.string().nullable(),
  warnings: z.boolean(),
  downloads: z.string(),
})

let mails: MailServer
let host: TestHoldfast
const codeOf = codesAt(() => host.clock.now())
beforeAll(async () => {
  mails = await startMailServer()
  host = await startHoldfast({ publicUrl: 'http://files.example.org', mail: mails.config })
}, 120_000)
afterAll(async () => {
  await host.stop()
  await mails[Symbol.asyncDispose]()
})
// Tries and mails are counted by the hour and the day; each test begins with none.
beforeEach(() => host.clock.advance(DAY + HOUR))

const somebody = () => visitor(() => host.url)

interface Person extends Visitor {
  readonly account: TestAccount
  readonly address: string
}

async function newcomer(): Promise<Person> {
  const account = await host.addAccount()
  return { ...(await signedIn(host, account.username)), account, address: `${account.username}@example.org` }
}

function setAddress(person: Visitor, address: string, headers: Record<string, string> = {}) {
  return person.send('POST', MAIL, { address, password: PASSWORD }, headers)
}

/** A session ends while nobody uses it. */
async function again({ account: { username } }: Person): Promise<Visitor> {
  const browser = somebody()
  await browser.send('POST', '/api/v1/session', { username, password: PASSWORD })
  return browser
}

/** What has come to the address since the last time: one mail. */
async function mailTo(address: string): Promise<ReceivedMail> {
  await host.runJobs()
  const mail = mails.take(address)
  if (mail === null) throw new Error(`no mail came to ${address}`)
  return mail
}

async function noMailTo(address: string): Promise<void> {
  await host.runJobs()
  expect(mails.take(address)).toBeNull()
}

/** With an address that they have confirmed. */
async function reachable(headers: Record<string, string> = {}): Promise<Person> {
  const person = await newcomer()
  expect((await setAddress(person, person.address, headers)).status).toBe(200)
  const { path } = await mailTo(person.address)
  expect((await somebody().submit(path, {})).status).toBe(200)
  return person
}

const settingsOf = async (person: Visitor) => (await person.get(MAIL)).data(settings)

describe('an address', () => {
  test('counts once its owner has confirmed it by the link in a mail, which no program does by opening it', async () => {
    const person = await newcomer()
    const { address } = person
    const nothing = { is_on: true, address: null, pending: null, warnings: true, downloads: 'first' }
    expect(await settingsOf(person)).toEqual(nothing)
    const wrong = await person.send('POST', MAIL, { address, password: 'not the password' })
    expect(wrong.error).toBe('WRONG_PASSWORD')
    expect((await setAddress(person, `${address}\r\nBcc: ada@example.org`)).error).toBe('INVALID_REQUEST')
    await setAddress(person, address)
    expect(await settingsOf(person)).toEqual({ ...nothing, pending: address })

    const mail = await mailTo(address)
    expect([mail.from, mail.subject]).toEqual(['files@example.org', 'Confirm your address'])
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated')
    expect(mail.messageId).toMatch(/^<[0-9a-f]{32}@example\.org>$/)
    expect(mail.text).toContain(`the account ${person.account.username} at files.example.org`)
    expect(mail.html).toContain(`href="http://files.example.org${mail.path}"`)
    expect(mail.html).not.toMatch(/<img|src=|<script|style/)

    expect((await somebody().get(mail.path)).text).toContain(address)
    expect((await settingsOf(person)).address).toBeNull()
    expect((await somebody().submit(mail.path, {})).status).toBe(200)
    expect(await settingsOf(person)).toEqual({ ...nothing, address })
    expect((await somebody().submit(mail.path, {})).error).toBe('INVALID_LINK')
    expect(await waitingMails(person)).toEqual([])
  })

  test('is not confirmed by a link that is a day old, or of an address that was given before', async () => {
    const person = await newcomer()
    await setAddress(person, person.address)
    const { path } = await mailTo(person.address)
    await setAddress(person, `other-${person.address}`)
    expect((await somebody().submit(path, {})).error).toBe('INVALID_LINK')
    const second = await mailTo(`other-${person.address}`)
    host.clock.advance(DAY + MINUTE)
    expect((await somebody().submit(second.path, {})).error).toBe('INVALID_LINK')
    expect((await settingsOf(person)).address).toBeNull()
  })

  test('belongs to one account, however it is written, which nobody learns but its owner', async () => {
    const [person, other] = [await reachable(), await newcomer()]
    const same = person.address.replace('user', 'USER')
    expect((await setAddress(other, same)).status).toBe(200)
    const { path } = await mailTo(same)
    expect((await somebody().submit(path, {})).error).toBe('ADDRESS_TAKEN')
    expect((await settingsOf(other)).address).toBeNull()
  })

  test('is told that it counts no more, and that the password has changed', async () => {
    const person = await reachable()
    const { address } = person
    const next = `new-${address}`
    await setAddress(person, next)
    await somebody().submit((await mailTo(next)).path, {})
    expect((await mailTo(address)).subject).toBe('Your address was changed')
    await person.send('PATCH', '/api/v1/account', { password: PASSWORD, new_password: OTHER })
    expect((await mailTo(next)).subject).toBe('Your password was changed')
    expect((await person.send('POST', `${MAIL}/delete`, { password: PASSWORD })).error).toBe('WRONG_PASSWORD')
    expect((await person.send('POST', `${MAIL}/delete`, { password: OTHER })).status).toBe(200)
    expect((await mailTo(next)).subject).toBe('Your address was removed')
    expect((await settingsOf(person)).address).toBeNull()
    await noMailTo(address)
  })

  test('is written to in the language of the browser that gave it', async () => {
    const person = await reachable({ 'accept-language': 'de-AT, en;q=0.5' })
    await person.send('PATCH', '/api/v1/account', { password: PASSWORD, new_password: OTHER })
    const mail = await mailTo(person.address)
    expect([mail.subject, mail.headers.get('content-language')]).toEqual([
      'Dein Passwort wurde geändert',
      'de',
    ])
  })

  test('gets five mails a day by those who give it, whoever they are', async () => {
    const [person, other] = [await newcomer(), await newcomer()]
    const codes = []
    for (const each of [person, other, person, other, person, other]) {
      codes.push((await setAddress(each, person.address)).error)
    }
    expect(codes).toEqual([null, null, null, null, null, 'RATE_LIMITED'])
  })
})

function waitingMails({ account }: Person) {
  return host.database
    .selectFrom('mails')
    .selectAll()
    .where('account_id', '=', Number(account.id) as never)
    .execute()
}

describe('who has forgotten their password', () => {
  const ask = (name: string) => somebody().submit(FORGOTTEN, { name })

  test('sets a new one by the link of a mail, once, and still needs their code', async () => {
    const person = await reachable()
    const made = await person.send('POST', '/api/v1/account/codes', { password: PASSWORD })
    const { secret } = made.data(z.object({ secret: z.string() }))
    await person.send('POST', '/api/v1/account/codes/confirm', { code: codeOf(secret) })
    await ask(` ${person.account.username.toUpperCase()} `)
    const first = await mailTo(person.address)
    await ask(person.address.toUpperCase())
    const second = await mailTo(person.address)
    expect(second.subject).toBe('Set a new password')
    expect((await somebody().get(second.path)).status).toBe(200)
    const set = (path: string) => somebody().submit(path, { password: OTHER })
    expect((await set(second.path)).headers.get('location')).toBe('/sign-in?done=password')
    expect((await mailTo(person.address)).subject).toBe('Your password was changed')
    expect([(await set(second.path)).status, (await set(first.path)).status]).toEqual([404, 404])
    expect((await person.get('/api/v1/session')).error).toBe('NOT_SIGNED_IN')
    const browser = somebody()
    const { username } = person.account
    const step = await browser.send('POST', '/api/v1/session', { username, password: OTHER })
    expect(step.data(z.object({ next: z.string() })).next).toBe('code')
    const rows = await host.database.selectFrom('mails').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(second.path.split('/').at(-1) ?? '')
  })

  test('is found by an address in its own script, which is kept in ASCII', async () => {
    const person = await newcomer()
    const at = (domain: string) => `${person.account.username}@${domain}`
    expect((await setAddress(person, at('bücher.example'))).status).toBe(200)
    const { path } = await mailTo(at('bücher.example'))
    expect((await somebody().submit(path, {})).status).toBe(200)
    expect((await settingsOf(person)).address).toBe(at('xn--bcher-kva.example'))
    await ask(at('BÜCHER.example'))
    expect((await mailTo(at('bücher.example'))).subject).toBe('Set a new password')
  })

  test('gets the same answer as nobody, who gets no mail', async () => {
    const [person, unconfirmed, disabled] = [await reachable(), await newcomer(), await reachable()]
    const passwordless = await reachable()
    const { id } = await host.database
      .selectFrom('accounts')
      .select('id')
      .where('username', '=', passwordless.account.username)
      .executeTakeFirstOrThrow()
    await host.database.deleteFrom('identities').where('account_id', '=', id).execute()
    await setAddress(unconfirmed, unconfirmed.address)
    await mailTo(unconfirmed.address)
    await host.disableAccount(disabled.account.username)
    const names = [person.address, 'nobody-of-this-name', unconfirmed.address, disabled.address]
    names.push(passwordless.address, 'a\0b', '')
    const answers = []
    for (const name of names) answers.push(await ask(name))
    const [first] = answers
    for (const { status, text } of answers) expect([status, text]).toEqual([200, first?.text ?? ''])
    expect((await mailTo(person.address)).subject).toBe('Set a new password')
    await noMailTo(unconfirmed.address)
    await noMailTo(disabled.address)
    await noMailTo(passwordless.address)
    expect(await host.database.selectFrom('reset_requests').selectAll().execute()).toEqual([])
  })

  test('gets three mails an hour, and asks ten times an hour', async () => {
    const person = await reachable()
    const before = mails.received.length
    const statuses = []
    for (let asked = 0; asked < 11; asked++) statuses.push((await ask(person.account.username)).status)
    expect(statuses).toEqual([...Array(10).fill(200), 429])
    await host.runJobs()
    expect(mails.received.slice(before).map(({ to }) => to)).toEqual(Array(3).fill(person.address))
  })

  test('is not helped by a link that is an hour old, nor by what another site sends', async () => {
    const person = await reachable()
    await ask(person.account.username)
    const { path } = await mailTo(person.address)
    host.clock.advance(HOUR + MINUTE)
    expect((await somebody().get(path)).status).toBe(404)
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect((await somebody().submit(FORGOTTEN, { name: person.address }, foreign)).error).toBe(
      'FOREIGN_ORIGIN',
    )
    await noMailTo(person.address)
  })
})

describe('files that nobody looks at', () => {
  const KEPT = 45 * DAY

  async function withFiles(count: number, headers?: Record<string, string>) {
    const person = await reachable(headers)
    const caller = api(host, person.account.apiKey)
    const files = []
    for (let at = 0; at < count; at++) files.push(await caller.put('content', { name: `file ${at}.txt` }))
    const live = async () =>
      z
        .object({ pagination: z.object({ total: z.number() }) })
        .parse((await caller.get('/api/v1/files')).body).pagination.total
    return { ...person, caller, files, live }
  }

  test('are told of a week before they go, once, and are kept by the link alone', async () => {
    const person = await withFiles(2)
    const { address, live } = person
    host.clock.advance(KEPT - 7 * DAY - HOUR)
    await noMailTo(address)
    host.clock.advance(2 * HOUR)
    const mail = await mailTo(address)
    expect(mail.subject).toBe('2 files will be deleted soon')
    for (const text of [mail.text, mail.html]) expect(text).toContain('file 1.txt')
    host.clock.advance(2 * DAY)
    await noMailTo(address)

    expect((await somebody().get(mail.path)).text).toContain('2 files')
    host.clock.advance(4 * DAY)
    expect((await somebody().submit(mail.path, {})).status).toBe(200)
    expect((await somebody().get(mail.path)).text).toContain('Nothing to keep')
    host.clock.advance(2 * DAY)
    await host.runJobs()
    expect(await live()).toBe(2)
    // Told of again, when they would go the next time.
    host.clock.advance(KEPT - 9 * DAY + HOUR)
    const again = await mailTo(address)
    expect(again.subject).toBe('2 files will be deleted soon')
    expect((await somebody().get(mail.path)).error).toBe('INVALID_LINK')
    host.clock.advance(7 * DAY)
    await host.runJobs()
    expect(await live()).toBe(0)
  })

  test('come back by the link for a day after they went', async () => {
    const { address, live } = await withFiles(2)
    host.clock.advance(KEPT - 7 * DAY + HOUR)
    const mail = await mailTo(address)
    host.clock.advance(7 * DAY)
    await host.runJobs()
    expect(await live()).toBe(0)
    expect((await somebody().get(mail.path)).text).toContain('2 files')
    expect((await somebody().submit(mail.path, {})).status).toBe(200)
    await host.runJobs()
    expect(await live()).toBe(2)
    host.clock.advance(DAY)
    expect((await somebody().get(mail.path)).error).toBe('INVALID_LINK')
  })

  test('are named up to twenty, one mail a day, and only those that were not looked at', async () => {
    const person = await withFiles(23)
    const { caller } = person
    host.clock.advance(DAY / 2)
    await caller.put('content', { name: 'later.txt' })
    host.clock.advance(KEPT - 7 * DAY - DAY / 2 - HOUR)
    const [looked] = person.files
    await caller.send(`/d/${looked?.slug}`, { headers: { accept: 'text/html' } })
    host.clock.advance(2 * HOUR)
    const mail = await mailTo(person.address)
    expect(mail.subject).toBe('22 files will be deleted soon')
    expect(mail.text.match(/file \d+\.txt/g)?.length).toBe(20)
    expect(mail.text).toContain('and 2 more')
    host.clock.advance(DAY / 2 + HOUR)
    await noMailTo(person.address)
    host.clock.advance(DAY / 2)
    expect((await mailTo(person.address)).subject).toBe('One file will be deleted soon')
  })

  test('are told of no more by a mail program’s button, until the owner wants it again', async () => {
    const person = await withFiles(1, { 'accept-language': 'de' })
    const { address, caller } = person
    host.clock.advance(KEPT - 7 * DAY + HOUR)
    const mail = await mailTo(address)
    expect(mail.subject).toBe('Eine Datei wird bald gelöscht')
    expect(mail.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    const [, end = ''] =
      /^<http:\/\/files\.example\.org(\/.+)>$/.exec(mail.headers.get('list-unsubscribe') ?? '') ?? []
    expect((await somebody().get(end)).status).toBe(200)
    const owner = await again(person)
    expect((await settingsOf(owner)).warnings).toBe(true)
    const byProgram = await fetch(host.url + end, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    })
    expect([byProgram.status, (await settingsOf(owner)).warnings]).toEqual([200, false])
    const forged = end.replace(/.(?=\.)/, (letter) => (letter === 'A' ? 'B' : 'A'))
    expect((await somebody().submit(forged, {})).error).toBe('INVALID_LINK')
    await caller.put('content', { name: 'another.txt' })
    host.clock.advance(KEPT - 7 * DAY + HOUR)
    await noMailTo(address)
    const later = await again(person)
    await later.send('PATCH', MAIL, { warnings: true, downloads: 'every' })
    expect(await settingsOf(later)).toMatchObject({ warnings: true, downloads: 'every' })
    expect((await later.send('PATCH', MAIL, {})).error).toBe('INVALID_REQUEST')
    expect((await mailTo(address)).text).toContain('another.txt')
  })
})

describe('an account that an administrator resets', () => {
  async function reset(person: Person, besides: object) {
    const admin = await administrator(host, 'root')
    const path = `/account/${person.account.id}`
    const ways = z.object({ has_mail: z.boolean() })
    expect(await admin.read(path, ways)).toEqual({ has_mail: true })
    await admin.act('POST', `${path}/reset`, besides)
    expect((await admin.deeds('account.reset'))[0]?.details).toMatchObject(besides)
    return (await admin.read(path, ways)).has_mail
  }

  test('keeps its address, but no link that would confirm another one', async () => {
    const person = await reachable()
    await setAddress(person, `new-${person.address}`)
    const { path } = await mailTo(`new-${person.address}`)
    expect(await reset(person, { mail_address: false })).toBe(true)
    expect((await somebody().get(path)).status).toBe(404)
    expect((await somebody().submit(path, {})).status).toBe(404)
    const token = (await host.links.password(person.account.username)).path.split('/').at(-1)
    await person.send('POST', '/api/v1/account/password', { token, password: PASSWORD })
    mails.take(person.address)
    expect(await settingsOf(await again(person))).toMatchObject({ address: person.address, pending: null })
  })

  test('loses its address with a reset that says so, and whoever reads its mails gets no link', async () => {
    const person = await reachable()
    await somebody().submit(FORGOTTEN, { name: person.address })
    const { path } = await mailTo(person.address)
    expect(await reset(person, { mail_address: true })).toBe(false)
    expect((await somebody().submit(path, { password: OTHER })).status).toBe(404)
    await somebody().submit(FORGOTTEN, { name: person.address })
    await noMailTo(person.address)
  })
})

describe('a mail server', () => {
  test('that is away fails nobody, and gets each mail once it is back', async () => {
    const person = await newcomer()
    await mails.goAway()
    expect((await setAddress(person, person.address)).status).toBe(200)
    await noMailTo(person.address)
    host.clock.advance(2 * MINUTE)
    await noMailTo(person.address)
    await mails.comeBack()
    host.clock.advance(2 * MINUTE)
    await mailTo(person.address)
    await noMailTo(person.address)
  })

  test('that refuses a mail is asked again only if it says that this may help', async () => {
    const [person, other] = [await newcomer(), await newcomer()]
    mails.answerWith(person.address, [450, 450])
    mails.answerWith(other.address, [550])
    await setAddress(person, person.address)
    await setAddress(other, other.address)
    await noMailTo(other.address)
    for (let tries = 0; tries < 2; tries++) {
      await noMailTo(person.address)
      host.clock.advance(3 * MINUTE)
    }
    await mailTo(person.address)
    await noMailTo(other.address)
    expect(await host.database.selectFrom('mails').selectAll().execute()).toEqual([])
  })
})
