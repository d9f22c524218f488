import { describe, expect, test } from 'bun:test'
import { createSigning } from '../../../src/core/hmac.ts'
import { systemTimers } from '../../../src/domain/clock.ts'
import { Refusal } from '../../../src/domain/errors.ts'
import type { AccountId, FileId, FolderId, FolderIdentifier, KeyId, Uuid } from '../../../src/domain/ids.ts'
import { createContentTokens } from '../../../src/downloads/content-tokens.ts'
import { createArchiveTokens } from '../../../src/downloads/zip/archive-tokens.ts'
import { createLinkNames } from '../../../src/sharing/links/link-access.ts'
import { handClock } from '../../support/hand-clock.ts'

const signing = createSigning('a secret that nobody knows')
const clock = { now: () => 1_000_000, monotonic: () => 0, timers: systemTimers }
const contents = createContentTokens(signing, createLinkNames(signing), clock)
const archives = createArchiveTokens(signing, clock)
const file = crypto.randomUUID() as Uuid
const reach = { account: 1 as AccountId, within: null, by: { kind: 'key', key: 7 as KeyId } } as const
const item = { id: 5 as FileId, uuid: file, name: 'notes.txt' }
const closed = new Map([[3 as FolderId, 9]])

test('a token of a file says whose it is and what it leads past', () => {
  const use = { counted: true, lifetime: 60 }
  const { token } = contents.issue({ reach, grants: new Map() }, { item, closed }, use)
  const { requester } = contents.read(token, file)
  expect(requester.reach).toBeNull()
  expect(requester.signed).toEqual({ ...reach, closed, closings: null })
})

test('a token of a zip says also which folders below count', () => {
  const token = archives.issue(reach, { closed, closings: 12 }, { files: [5 as FileId], folders: [] })
  expect(archives.read(token).requester.signed).toEqual({ ...reach, closed, closings: 12 })
})

describe('an address', () => {
  const isValid = (read: () => unknown) => {
    try {
      read()
      return true
    } catch (error) {
      if (error instanceof Refusal && error.code === 'INVALID_TOKEN') return false
      throw error
    }
  }

  test('of a file is good for its seconds, for that file alone, and says how it is used', () => {
    const time = handClock()
    const tokens = createContentTokens(signing, createLinkNames(signing), time)
    const [uses, other] = [{ counted: true, lifetime: 60 }, crypto.randomUUID() as Uuid]
    const { token } = tokens.issue({ reach: null, grants: new Map() }, { item, closed }, uses)
    expect(tokens.read(token, file)).toMatchObject({ counted: true })
    expect(isValid(() => tokens.read(token, other))).toBe(false)
    time.advance(59_999)
    expect(isValid(() => tokens.read(token, file))).toBe(true)
    time.advance(1)
    expect(isValid(() => tokens.read(token, file))).toBe(false)
  })

  test('of a zip is good for half an hour', () => {
    const time = handClock()
    const tokens = createArchiveTokens(signing, time)
    const selection = { files: [5 as FileId], folders: [6 as FolderId] }
    const token = tokens.issue(reach, { closed, closings: 12 }, selection)
    expect(tokens.read(token).selection).toEqual(selection)
    time.advance(30 * 60_000 - 1)
    expect(isValid(() => tokens.read(token))).toBe(true)
    time.advance(1)
    expect(isValid(() => tokens.read(token))).toBe(false)
  })

  test('that was signed in the name of somebody kept to a folder says so', () => {
    const kept = { ...reach, within: 'a123456789012345' as FolderIdentifier }
    const uses = { counted: false, lifetime: 60 }
    const { token } = contents.issue({ reach: kept, grants: new Map() }, { item, closed }, uses)
    expect(contents.read(token, file).requester.signed).toEqual({ ...kept, closed, closings: null })
  })
})
