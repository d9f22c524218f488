import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type ChainFolder,
  decideAccess,
  decideBelow,
  isOwnerView,
  type Requester,
  type Viewer,
  viewerOf,
} from '../../../src/domain/access.ts'
import {
  type AccountId,
  type FolderId,
  type FolderIdentifier,
  GUESTS,
  type KeyId,
} from '../../../src/domain/ids.ts'

const account = (id: number): AccountId => id as AccountId
const folder = (id: number): FolderId => id as FolderId

const OWNER = account(1)
const OTHER = account(2)

const open = (id: number): ChainFolder => ({ id: folder(id), isPublic: true, passwordTag: null, closing: id })
const locked = (id: number, tag = `tag ${id}`): ChainFolder => ({ ...open(id), passwordTag: tag })
const hidden = (id: number): ChainFolder => ({ ...open(id), isPublic: false })

function viewer(id: AccountId | null, grants: readonly (readonly [number, string])[] = []): Viewer {
  return { account: id, grants: new Map(grants.map(([of, tag]) => [folder(of), tag])) }
}

const STRANGERS = [viewer(null), viewer(OTHER), viewer(GUESTS)]

describe('decideAccess', () => {
  test('lets everybody see what is in no folder or in public ones', () => {
    for (const who of [...STRANGERS, viewer(OWNER)]) {
      expect(decideAccess(who, OWNER, [])).toEqual({ kind: 'open' })
      expect(decideAccess(who, OWNER, [open(1), open(2)])).toEqual({ kind: 'open' })
    }
  })

  test('lets the owner see everything', () => {
    expect(decideAccess(viewer(OWNER), OWNER, [hidden(1), locked(2), hidden(3)])).toEqual({ kind: 'open' })
  })

  test('takes nobody for the owner of what guests uploaded', () => {
    for (const who of STRANGERS) {
      expect(decideAccess(who, GUESTS, [hidden(1)])).toEqual({ kind: 'hidden' })
      expect(decideAccess(who, GUESTS, [locked(1)])).toEqual({ kind: 'locked', folder: folder(1) })
    }
  })

  test.each([0, 1, 2])('hides what has a private folder on the way, at place %p', (place) => {
    const chain = [open(1), open(2), open(3)]
    chain[place] = hidden(9)
    for (const who of STRANGERS) expect(decideAccess(who, OWNER, chain)).toEqual({ kind: 'hidden' })
  })

  test('hides rather than asks for a password, wherever the two stand', () => {
    for (const who of STRANGERS) {
      expect(decideAccess(who, OWNER, [locked(1), hidden(2)])).toEqual({ kind: 'hidden' })
      expect(decideAccess(who, OWNER, [hidden(1), locked(2)])).toEqual({ kind: 'hidden' })
    }
  })

  test('hides a private folder also from who holds its password', () => {
    const chain = [{ ...hidden(1), passwordTag: 'tag' }]
    expect(decideAccess(viewer(null, [[1, 'tag']]), OWNER, chain)).toEqual({ kind: 'hidden' })
  })

  test('asks for one password after the other, the outermost first', () => {
    const chain = [open(1), locked(2), open(3), locked(4)]
    const two = [2, 'tag 2'] as const
    const four = [4, 'tag 4'] as const
    expect(decideAccess(viewer(null), OWNER, chain)).toEqual({ kind: 'locked', folder: folder(2) })
    expect(decideAccess(viewer(null, [four]), OWNER, chain)).toEqual({ kind: 'locked', folder: folder(2) })
    expect(decideAccess(viewer(null, [two]), OWNER, chain)).toEqual({ kind: 'locked', folder: folder(4) })
    expect(decideAccess(viewer(null, [two, four]), OWNER, chain)).toEqual({ kind: 'open' })
  })

  test('takes a password for nothing once it was changed, and for nothing on another folder', () => {
    expect(decideAccess(viewer(null, [[1, 'old']]), OWNER, [locked(1, 'new')]).kind).toBe('locked')
    expect(decideAccess(viewer(null, [[2, 'tag']]), OWNER, [locked(1, 'tag')]).kind).toBe('locked')
  })

  test('opens only where nothing on the way is private or still locked', () => {
    const chainFolder = fc.record({
      id: fc.integer({ min: 1, max: 6 }).map(folder),
      isPublic: fc.boolean(),
      passwordTag: fc.option(fc.constantFrom('a', 'b')),
      closing: fc.constant(0),
    })
    const grants = fc.dictionary(fc.constantFrom('1', '2', '3', '4', '5', '6'), fc.constantFrom('a', 'b'))
    fc.assert(
      fc.property(fc.array(chainFolder, { maxLength: 8 }), grants, (chain, given) => {
        const who = viewer(
          OTHER,
          Object.entries(given).map(([id, tag]) => [Number(id), tag]),
        )
        const shut = chain.filter((it) => it.passwordTag !== null && given[String(it.id)] !== it.passwordTag)
        const access = decideAccess(who, OWNER, chain)
        if (chain.some((it) => !it.isPublic)) expect(access).toEqual({ kind: 'hidden' })
        else if (shut[0] !== undefined) expect(access).toEqual({ kind: 'locked', folder: shut[0].id })
        else expect(access).toEqual({ kind: 'open' })
        // What is below never makes what is above it easier to see.
        if (access.kind === 'open') expect(decideAccess(who, OWNER, chain.slice(0, -1)).kind).toBe('open')
      }),
    )
  })
})

describe('an address that an owner signed', () => {
  const signedBy = (account: AccountId, closed: readonly (readonly [number, number])[]): Viewer => ({
    ...viewer(null),
    signed: {
      account,
      within: null,
      closed: new Map(closed.map(([id, closing]) => [folder(id), closing])),
      closings: 5,
    },
  })

  test('leads past what was closed in the same way then, and past nothing else', () => {
    const rights = signedBy(OWNER, [
      [1, 1],
      [3, 3],
    ])
    expect(decideAccess(rights, OWNER, [hidden(1), open(2), locked(3)]).kind).toBe('open')
    expect(decideAccess(rights, OWNER, [hidden(1), hidden(2)]).kind).toBe('hidden')
    expect(decideAccess(rights, OWNER, [{ ...hidden(1), closing: 4 }]).kind).toBe('hidden')
    expect(decideAccess(rights, OWNER, [{ ...locked(3), closing: 4 }])).toEqual({
      kind: 'locked',
      folder: folder(3),
    })
    expect(decideAccess(signedBy(OWNER, []), OWNER, [hidden(1)]).kind).toBe('hidden')
  })

  test('leads past nothing of another account, nor of what guests uploaded', () => {
    expect(decideAccess(signedBy(OTHER, [[1, 1]]), OWNER, [hidden(1)]).kind).toBe('hidden')
    expect(decideAccess(signedBy(GUESTS, [[1, 1]]), GUESTS, [hidden(1)]).kind).toBe('hidden')
  })

  test('leads into folders below that were closed before it was signed, not since', () => {
    expect(decideBelow(signedBy(OWNER, []), OWNER, hidden(5)).kind).toBe('open')
    expect(decideBelow(signedBy(OWNER, []), OWNER, hidden(6)).kind).toBe('hidden')
    expect(decideBelow(signedBy(OTHER, []), OWNER, hidden(5)).kind).toBe('hidden')
    expect(decideBelow(viewer(null), OWNER, hidden(5)).kind).toBe('hidden')
  })

  test('is the owner’s look, whatever it leads past', () => {
    expect(isOwnerView(signedBy(OWNER, []), OWNER)).toBe(true)
    expect(isOwnerView(signedBy(OTHER, []), OWNER)).toBe(false)
    expect(isOwnerView(viewer(OWNER), OWNER)).toBe(true)
    expect(isOwnerView(viewer(null), OWNER)).toBe(false)
  })
})

describe('viewerOf', () => {
  const named = (name: string) => ({ identifier: name as FolderIdentifier })
  const grants = new Map([[folder(7), 'tag']])
  const keptTo = (within: string | null): Requester => ({
    reach: {
      account: OWNER,
      within: within as FolderIdentifier | null,
      by: { kind: 'key', key: 1 as KeyId },
    },
    grants,
  })

  test('takes somebody kept to a folder for nobody outside of it', () => {
    const inside = [[named('a')], [named('x'), named('a'), named('y')]]
    for (const chain of inside)
      expect(viewerOf(keptTo('a'), chain)).toEqual({ account: OWNER, grants, signed: null, link: null })
    for (const chain of [[], [named('x')]])
      expect(viewerOf(keptTo('a'), chain)).toEqual({ account: null, grants, signed: null, link: null })
  })

  test('takes an address that somebody kept to a folder has signed for nobody’s outside of it', () => {
    const by = { kind: 'key', key: 1 as KeyId } as const
    const within = 'a' as FolderIdentifier
    const signed = { account: OWNER, within, by, closed: new Map(), closings: null }
    const requester: Requester = { reach: null, grants, signed }
    expect(viewerOf(requester, [named('x'), named('a')])).toEqual({
      account: null,
      grants,
      signed,
      link: null,
    })
    for (const chain of [[], [named('x')]])
      expect(viewerOf(requester, chain)).toEqual({ account: null, grants, signed: null, link: null })
  })

  test('leaves everybody else who they are', () => {
    for (const chain of [[], [named('x')]]) {
      expect(viewerOf(keptTo(null), chain)).toEqual({ account: OWNER, grants, signed: null, link: null })
      expect(viewerOf({ reach: null, grants }, chain)).toEqual({
        account: null,
        grants,
        signed: null,
        link: null,
      })
    }
  })
})
