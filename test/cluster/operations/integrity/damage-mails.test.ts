/** Owners and administrators are told by mail of what is damaged, once and without a flood. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { markDamaged } from '../../../../src/core/damage.rows.ts'
import type { Language } from '../../../../src/domain/account.ts'
import { DAY, HOUR } from '../../../../src/domain/clock.ts'
import type { AccountId } from '../../../../src/domain/ids.ts'
import { GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { type MailServer, startMailServer } from '../../../support/sign-in/mail-server.ts'
import { verifyAddress } from '../../../support/sign-in/verified-address.ts'
import { contentOf } from '../../../support/storage/stored-contents.ts'

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
beforeEach(() => host.clock.advance(DAY + HOUR))

async function reachable(username: string, language: Language) {
  const { id, apiKey } = await host.addAccount(username)
  const address = await verifyAddress(host.database, id, `${username}@example.org`, { language })
  return { id: id as AccountId, key: apiKey, address }
}

async function damagedFile(name: string, key?: string): Promise<void> {
  const file = await upload(host, { name, bytes: textBytes(name), ...(key === undefined ? {} : { key }) })
  expect(await markDamaged(host.database, await contentOf(host, file.slug), 'hash', host.clock.now())).toBe(
    true,
  )
}

const repair = (name: string) => upload(host, { name, bytes: textBytes(name) })

async function mailTo(address: string) {
  await host.runJobs()
  return mails.take(address)
}

test('owners are told of their files, and administrators of all, in their language and once', async () => {
  const ann = await reachable('ann', 'en')
  const bea = await reachable('bea', 'de')
  const root = await reachable('root', 'en')
  await host.makeAdmin('root')
  await reachable('chris', 'en')
  for (const name of ['one.txt', 'two.txt']) await damagedFile(name, ann.key)
  await damagedFile('drei.txt', bea.key)
  await damagedFile('four.txt')
  await damagedFile('repaired.txt', ann.key)
  await repair('repaired.txt')
  const toAnn = await mailTo(ann.address)
  expect(toAnn?.subject).toBe('2 of your files are damaged')
  expect(toAnn?.headers.get('list-unsubscribe')).toMatch(/^<http:\/\/files\.example\.org\/unsubscribe\/.+>$/)
  for (const text of [toAnn?.text, toAnn?.html]) {
    for (const name of ['one.txt', 'two.txt']) expect(text).toContain(name)
    for (const name of ['drei.txt', 'four.txt', 'repaired.txt']) expect(text).not.toContain(name)
  }
  const toBea = mails.take(bea.address)
  expect(toBea?.subject).toBe('Eine deiner Dateien ist beschädigt')
  expect(toBea?.text).toContain('drei.txt')
  const toRoot = mails.take(root.address)
  expect(toRoot?.subject).toBe('4 stored contents are damaged')
  for (const line of ['one.txt (ann)', 'drei.txt (bea)', 'four.txt (a guest)']) {
    expect(toRoot?.text).toContain(line)
  }
  expect(toRoot?.text).toContain('http://files.example.org/admin/integrity')
  expect(mails.take('chris@example.org')).toBeNull()

  await damagedFile('five.txt', ann.key)
  for (const { address } of [ann, bea, root]) expect(await mailTo(address)).toBeNull()
  host.clock.advance(DAY)
  const later = await mailTo(ann.address)
  expect(later?.subject).toBe('One of your files is damaged')
  expect(later?.text).toContain('five.txt')
  expect(later?.text).not.toContain('one.txt')
  expect(mails.take(root.address)?.subject).toBe('One stored content is damaged')
  host.clock.advance(DAY + HOUR)
  for (const { address } of [ann, bea, root]) expect(await mailTo(address)).toBeNull()
})

test('a mail names twenty files, and nobody gets one who wants none', async () => {
  const dora = await reachable('dora', 'en')
  for (let count = 0; count < 22; count++) await damagedFile(`dora ${count}.txt`, dora.key)
  const wants = (warnings: 0 | 1) =>
    host.database.updateTable('mail_addresses').set({ warnings }).where('account_id', '=', dora.id).execute()
  await wants(0)
  expect(await mailTo(dora.address)).toBeNull()
  await wants(1)
  const mail = await mailTo(dora.address)
  expect(mail?.subject).toBe('22 of your files are damaged')
  expect(mail?.text.match(/dora \d+\.txt/g)?.length).toBe(20)
  expect(mail?.text).toContain('and 2 more')
})
