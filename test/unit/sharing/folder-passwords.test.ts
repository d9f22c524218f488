/** Passwords of folders, without a server: which tries count, and to the millisecond how long an unlocked folder stays so. */
import { describe, expect, test } from 'bun:test'
import { createSigning } from '../../../src/core/hmac.ts'
import { hashPassword } from '../../../src/core/password-hash.ts'
import { createRateLimits } from '../../../src/core/rate-limits/rate-limits.ts'
import { DAY, MINUTE } from '../../../src/domain/clock.ts'
import { Refusal } from '../../../src/domain/errors.ts'
import type { FolderId, LinkId } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createFolderPasswords, type FolderPasswords } from '../../../src/sharing/folder-passwords.ts'
import { sqliteDatabase } from '../../support/databases/databases.ts'
import { type HandClock, handClock } from '../../support/hand-clock.ts'

const PASSWORD = 'sesame'
const hash = await hashPassword(PASSWORD)

function lockedFolder(id: number) {
  return { lock: { folder: id as FolderId }, tag: `tag ${id}`, hash }
}

const folder = lockedFolder(7)

async function withPasswords(
  work: (passwords: FolderPasswords, clock: HandClock) => Promise<void>,
): Promise<void> {
  await using database = await sqliteDatabase()
  const clock = handClock()
  const signing = createSigning('a secret of these tests')
  const rates = await createRateLimits(database.db, clock)
  await work(createFolderPasswords(rates, signing, clock, systemRandom), clock)
}

async function tried(passwords: FolderPasswords, input: string, bucket = 'here'): Promise<string> {
  try {
    await passwords.unlock(folder, input, bucket, null)
    return 'unlocked'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

function encoded(password: string, nonce: string): string {
  return Buffer.from(`${password}|1700000000000|${nonce}`).toString('base64')
}

describe('guesses at the password of a folder', () => {
  test('are the wrong ones alone: right passwords use up no limit', () =>
    withPasswords(async (passwords, clock) => {
      for (let each = 0; each < 65; each++) expect(await tried(passwords, PASSWORD)).toBe('unlocked')
      for (let each = 0; each < 10; each++) expect(await tried(passwords, 'wrong')).toBe('WRONG_PASSWORD')
      expect(await tried(passwords, PASSWORD)).toBe('RATE_LIMITED')
      clock.advance(15 * MINUTE - 1)
      expect(await tried(passwords, PASSWORD)).toBe('RATE_LIMITED')
      clock.advance(1)
      expect(await tried(passwords, PASSWORD)).toBe('unlocked')
    }))

  test('are 60 an hour from all addresses together', () =>
    withPasswords(async (passwords) => {
      for (let each = 0; each < 60; each++) {
        expect(await tried(passwords, 'wrong', `address ${each}`)).toBe('WRONG_PASSWORD')
      }
      expect(await tried(passwords, PASSWORD, 'another address')).toBe('RATE_LIMITED')
    }))
})

describe('an unlocked folder', () => {
  test('stays unlocked for 24 hours to the millisecond', () =>
    withPasswords(async (passwords, clock) => {
      const cookie = await passwords.unlock(folder, PASSWORD, 'here', null)
      clock.advance(DAY - 1)
      expect([...passwords.grants(cookie).keys()]).toEqual([folder.lock.folder])
      clock.advance(1)
      expect(passwords.grants(cookie).size).toBe(0)
    }))

  test('is one of at most 40, of which the newest are kept, each once', () =>
    withPasswords(async (passwords) => {
      let cookie: string | null = null
      for (let id = 1; id <= 41; id++) {
        cookie = await passwords.unlock(lockedFolder(id), PASSWORD, 'here', cookie)
      }
      const ids = Array.from({ length: 40 }, (_, at) => (at + 2) as FolderId)
      expect([...passwords.grants(cookie).keys()]).toEqual(ids)
      const again = await passwords.unlock(lockedFolder(20), PASSWORD, 'here', cookie)
      expect([...passwords.grants(again).keys()]).toEqual([...ids.filter((id) => id !== 20), 20 as FolderId])
    }))
})

test('a link and a folder with the same number unlock nothing of each other', () =>
  withPasswords(async (passwords) => {
    const link = { lock: { link: 7 as LinkId }, tag: 'tag of the link', hash }
    const ofLink = await passwords.unlock(link, PASSWORD, 'here', null)
    expect(passwords.grants(ofLink).size).toBe(0)
    expect(passwords.unlocks(ofLink, 7 as LinkId, 'tag of the link')).toBe(true)
    expect(passwords.unlocks(ofLink, 7 as LinkId, 'tag of another password')).toBe(false)
    expect(passwords.unlocks(ofLink, 8 as LinkId, 'tag of the link')).toBe(false)
    const ofBoth = await passwords.unlock(folder, PASSWORD, 'here', ofLink)
    expect([...passwords.grants(ofBoth).keys()]).toEqual([folder.lock.folder])
    expect(passwords.unlocks(ofBoth, 7 as LinkId, 'tag of the link')).toBe(true)
    expect(
      passwords.unlocks(await passwords.unlock(folder, PASSWORD, 'here', null), 7 as LinkId, 'tag 7'),
    ).toBe(false)
    const nonce = passwords.nonce(link.lock)
    expect(await tried(passwords, encoded(PASSWORD, nonce))).toBe('WRONG_PASSWORD')
  }))

describe('the nonce of a form', () => {
  test('is good for its own folder alone, and for 24 hours to the millisecond', () =>
    withPasswords(async (passwords, clock) => {
      const [own, other] = [passwords.nonce(folder.lock), passwords.nonce({ folder: 8 as FolderId })]
      expect(await tried(passwords, encoded(PASSWORD, other))).toBe('WRONG_PASSWORD')
      clock.advance(DAY - 1)
      expect(await tried(passwords, encoded(PASSWORD, own))).toBe('unlocked')
      clock.advance(1)
      expect(await tried(passwords, encoded(PASSWORD, own))).toBe('WRONG_PASSWORD')
    }))
})
