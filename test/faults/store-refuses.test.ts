/** A store that refuses for good to join parts: nobody sends the same bytes again and again. */
// Only in test:all: rounds of refused joins; s3-faults.contract.test.ts has failures.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { newClient } from '../support/cli/client.ts'
import { guestAt, tus } from '../support/clients/tus.ts'
import { eventually } from '../support/eventually.ts'
import type { ChildAccount, ChildServer } from '../support/processes/child.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../support/storage/fault-proxy.ts'

const MIB = 1024 ** 2
const random = chance(80)

/** Joins of blobs, which have several parts. */
const isJoin = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?uploadId=')

onSharedServers('a repeat without memory: a node whose store refuses joins for good', () => {
  const open = new AsyncDisposableStack()
  let installation: SharedInstallation
  let proxy: FaultProxy
  let account: ChildAccount
  let node: ChildServer

  beforeAll(async () => {
    installation = open.use(await sharedInstallation())
    account = await installation.addAccount('alice')
    proxy = open.adopt(await startFaultProxy(installation.settings.S3_ENDPOINT ?? ''), (it) => it.stop())
    node = await installation.startNode({ S3_ENDPOINT: proxy.url })
  })
  afterEach(() => proxy.heal())
  afterAll(() => open.disposeAsync())

  for (const code of ['InvalidPart', 'InvalidRequest', 'EntityTooSmall']) {
    test(`ends the upload with ${code}, says so in the log, and takes others`, async () => {
      proxy.inject({ kind: 'answer', status: 400, code }, { match: isJoin, times: Infinity })
      const client = tus(guestAt(node.url))
      for (const size of [12 * MIB, 40 * MIB]) {
        const { path } = await client.start(size)
        const answer = await client.patch(path, 0, random.bytes(size))
        expect(answer).toMatchObject({ status: 410, body: { error: 'UPLOAD_GONE' } })
        await eventually('the log has the words of the store', () => node.output().includes(code))
      }
      const { path } = await client.start(MIB)
      expect((await client.patch(path, 0, random.bytes(MIB))).status).toBe(204)
    })
  }

  test('has a file sent three times by the command line, which then says what refuses it', async () => {
    proxy.inject({ kind: 'answer', status: 400, code: 'InvalidPart' }, { match: isJoin, times: Infinity })
    using client = newClient()
    await client.login(node.url, account.apiKey)
    writeFileSync(join(client.folder, 'film.bin'), random.bytes(12 * MIB))
    const before = proxy.requests.filter(isJoin).length
    const { code, output, errors } = await client.run('upload', 'film.bin')
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toContain('sending it again in 5 s')
    expect(errors).toContain('the server received it 3 times, and its storage refuses it')
    expect(proxy.requests.filter(isJoin).length - before).toBe(3)
  }, 90_000)
})
