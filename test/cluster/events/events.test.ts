/** What those who watch an account are told. */
import { describe, expect, test } from 'bun:test'
import type { FolderIdentifier } from '../../../src/domain/ids.ts'
import { api, refusal } from '../../support/clients/api.ts'
import { intoBin, restore } from '../../support/clients/bin.ts'
import { type EventWatcher, type SentEvent, watchEvents } from '../../support/clients/events.ts'
import { makeLink, revokeLink } from '../../support/clients/links.ts'
import { tus } from '../../support/clients/tus.ts'
import { atNode, type TestAccount } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

const kind = (wanted: string) => (event: SentEvent) => event.data.kind === wanted
const told = ({ events }: EventWatcher) =>
  events.filter(({ event }) => event === 'change').map((event) => event.data)

async function watched(): Promise<{ owner: TestAccount; watcher: EventWatcher }> {
  const owner = await holdfast.addAccount()
  return { owner, watcher: await watchEvents(holdfast, owner.apiKey) }
}

describe('whoever watches an account', () => {
  test('is told what happens to its links, unless they are kept to one folder', async () => {
    const { owner, watcher } = await watched()
    await using _ = watcher
    const other = api(holdfast, owner.apiKey)
    const folder = await other.folder('inbox')
    const bound = await holdfast.addKey(owner.username, { folder: folder as FolderIdentifier })
    await using kept = await watchEvents(holdfast, bound)
    const link = await makeLink(holdfast, owner.apiKey, { folders: [folder], uploads: {} })
    const sent = await fetch(`${holdfast.url}/l/${link}/a.txt`, { method: 'PUT', body: 'a' })
    expect(sent.status).toBe(200)
    await revokeLink(holdfast, owner.apiKey, link)
    const ended = await watcher.until(kind('link.ended'))
    expect(ended).toMatchObject({ event: 'link', data: { link, reason: 'revoked' } })
    expect(watcher.events.find(kind('link.arrived'))).toMatchObject({
      event: 'link',
      data: { link, file: { name: 'a.txt' }, bytes: 1 },
    })
    const { file_id: file } = await other.put('x', { folder })
    await kept.until(({ data }) => data.file === file)
    expect(kept.events.filter(({ event }) => event === 'link')).toEqual([])
  })

  test('is told of every change by another session, in order and once, and of nobody else’s', async () => {
    const { owner, watcher } = await watched()
    await using _ = watcher
    expect(watcher.events).toMatchObject([{ event: 'ready' }])
    const other = api(holdfast, await holdfast.addKey(owner.username))
    const stranger = api(holdfast, (await holdfast.addAccount()).apiKey)

    const outer = await other.folder('outer')
    await stranger.folder('theirs')
    const inner = await other.folder('inner', { parent: outer })
    const { file_id: file } = await other.put('x', { folder: inner })
    await api(holdfast).put('a guest’s')
    await other.patch(`/api/v1/file/${file}`, { name: 'y' })
    await other.post('/api/v1/file/move', { file, folder: outer })
    await other.patch(`/api/v1/folder/${inner}`, { name: 'renamed' })
    await other.post('/api/v1/folder/move', { folder: inner })
    await restore(other, await intoBin(other, { files: [file] }))
    await tus(other).start(5, { folder: outer, relativePath: 'on the way/a.txt' })
    await other.post('/folder/delete', { identifiers: [outer, inner] })
    await watcher.until((event) => event.data.kind === 'folder.removed' && event.data.folder === inner)

    expect(told(watcher)).toEqual([
      { kind: 'folder.added', folder: outer, place: 'root' },
      { kind: 'folder.added', folder: inner, place: outer },
      { kind: 'file.added', file, place: inner },
      { kind: 'file.changed', file, place: inner },
      { kind: 'file.moved', file, place: outer, from: inner },
      { kind: 'folder.changed', folder: inner, place: outer },
      { kind: 'folder.moved', folder: inner, place: 'root', from: outer },
      { kind: 'file.removed', file, place: outer },
      { kind: 'bin' },
      { kind: 'file.added', file, place: outer },
      { kind: 'bin' },
      { kind: 'folder.added', folder: expect.any(String), place: outer },
      { kind: 'folder.removed', folder: outer, place: 'root' },
      { kind: 'folder.removed', folder: inner, place: 'root' },
    ])
    const ids = watcher.events.map(({ id }) => Number(id))
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
  })

  test('gets a stream that no proxy holds back', async () => {
    const { apiKey } = await holdfast.addAccount()
    await using watcher = await watchEvents(atNode(holdfast), apiKey)
    const { headers } = watcher.response
    expect(headers.get('content-type')).toStartWith('text/event-stream')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('cache-control')).toContain('no-store')
  })

  test('may ask for the head alone any number of times', async () => {
    const { apiKey } = await holdfast.addAccount()
    const headers = { authorization: `Bearer ${apiKey}` }
    for (let asked = 0; asked < 110; asked++) {
      const head = await fetch(`${holdfast.url}/api/v1/events`, { method: 'HEAD', headers })
      expect(head.status).toBe(200)
    }
    await using watcher = await watchEvents(holdfast, apiKey)
    expect(watcher.events).toMatchObject([{ event: 'ready' }])
  })

  test('goes on after a break where it was', async () => {
    const { owner, watcher } = await watched()
    const caller = api(holdfast, owner.apiKey)
    await caller.folder('seen')
    const last = await watcher.until(kind('folder.added'))
    await watcher[Symbol.asyncDispose]()
    const missed = await caller.folder('missed')
    await using again = await watchEvents(holdfast, owner.apiKey, last.id)
    await again.until(kind('folder.added'))
    expect(again.events[0]?.event).toBe('ready')
    expect(told(again)).toEqual([{ kind: 'folder.added', folder: missed, place: 'root' }])
  })

  test('is told to read everything anew when what it has missed is forgotten', async () => {
    const { owner, watcher } = await watched()
    const caller = api(holdfast, owner.apiKey)
    await watcher[Symbol.asyncDispose]()
    await caller.folder('missed')
    for (const _ of ['what is there may be forgotten', 'now it is']) await holdfast.runJobs()
    for (const id of [watcher.events[0]?.id ?? '', '999999999999', 'never an id']) {
      await using again = await watchEvents(holdfast, owner.apiKey, id)
      expect(again.events).toMatchObject([{ event: 'reload' }])
      const later = await caller.folder(`later ${id}`)
      expect(await again.until(kind('folder.added'))).toMatchObject({ data: { folder: later } })
    }
  })

  test('is told no more once its key is revoked or its account disabled, others as before', async () => {
    const { owner, watcher } = await watched()
    const revoked = await holdfast.addKey(owner.username)
    const second = await watchEvents(holdfast, revoked)
    await holdfast.revokeKey(revoked)
    await second.over()
    const folder = await api(holdfast, owner.apiKey).folder('later')
    expect(await watcher.until(kind('folder.added'))).toMatchObject({ data: { folder } })
    await holdfast.disableAccount(owner.username)
    await watcher.over()
    const refused = await api(holdfast, owner.apiKey).get('/api/v1/events')
    expect(refused).toMatchObject(refusal('ACCOUNT_DISABLED'))
  })
})

test('a server that stops does not wait for those who watch, and they find the next one', async () => {
  const { owner, watcher } = await watched()
  const before = watcher.events[0]?.id ?? ''
  await holdfast.restart()
  await watcher.over()
  await using again = await watchEvents(holdfast, owner.apiKey, before)
  expect(again.events).toMatchObject([{ event: 'ready' }])
  const folder = await api(holdfast, owner.apiKey).folder('after')
  expect(await again.until(kind('folder.added'))).toMatchObject({ data: { folder } })
})
