/** Passwords of folders, without a server: which tries count, and to the millisecond how long an unlocked folder stays so. */
import { describe, expect, test } from 'bun:test'
import { createSigning } from '../../src/core/hmac.ts'
import { hashPassword } from '../../src/core/password-hash.ts'
import { createRateLimits } from '../../src/core/rate-limits/rate-limits.ts'
import { DAY, MINUTE } from '../../src/domain/clock.ts'
import { Refusal } from '../../src/domain/errors.ts'
import type { FolderId, FolderIdentifier } from '../../src/domain/ids.ts'
import { systemRandom } from '../../src/domain/random.ts'
import type { ChainRow } from '../../src/files/folders/folders.rows.ts'
import { createAccess } from '../../src/sharing/access.ts'
import { createFolderPasswords, type FolderPasswords } from '../../src/sharing/folder-passwords.ts'
import { sqliteDatabase } from '../support/databases/databases.ts'
import { type HandClock, handClock } from '../support/hand-clock.ts'

const PASSWORD = 'sesame'
const hash = await hashPassword(PASSWORD)

function lockedFolder(id: number): ChainRow {
  return {
    id: id as FolderId,
    identifier: `folder${String(id).padStart(10, '0')}` as FolderIdentifier,
    name: 'Locked',
    is_public: 1,
    password_hash: hash,
    closing: 1,
    deleted_at: null,
    bin_id: null,
  }
}

const folder = lockedFolder(7)

async function withPasswords(
  work: (passwords: FolderPasswords, clock: HandClock) => Promise<void>,
): Promise<void> {
  await using database = await sqliteDatabase()
  const clock = handClock()
  const signing = createSigning('a secret of these tests')
  const rates = await createRateLimits(database.db, clock)
  const access = createAccess(database.db, signing, clock)
  await work(createFolderPasswords(access, rates, signing, clock, systemRandom), clock)
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
      expect([...passwords.grants(cookie).keys()]).toEqual([folder.id])
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

describe('the nonce of a form', () => {
  test('is good for its own folder alone, and for 24 hours to the millisecond', () =>
    withPasswords(async (passwords, clock) => {
      const [own, other] = [passwords.nonce(folder.id), passwords.nonce(8 as FolderId)]
      expect(await tried(passwords, encoded(PASSWORD, other))).toBe('WRONG_PASSWORD')
      clock.advance(DAY - 1)
      expect(await tried(passwords, encoded(PASSWORD, own))).toBe('unlocked')
      clock.advance(1)
      expect(await tried(passwords, encoded(PASSWORD, own))).toBe('WRONG_PASSWORD')
    }))
})
