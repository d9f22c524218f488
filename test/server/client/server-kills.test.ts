// Only in test:all: rounds of kills.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newClient } from '../../support/cli/client.ts'
import { randomBytes } from '../../support/clients/public.ts'
import { eventually } from '../../support/eventually.ts'
import { addAccount, startChild, temporaryFolder } from '../../support/processes/child.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { startFaultProxy } from '../../support/storage/fault-proxy.ts'

const MIB = 1024 * 1024

test('an upload outlives a server that is killed again and again', async () => {
  using folder = temporaryFolder()
  using client = newClient()
  const settings = { PORT: String(await freePort()), MIN_FREE_SPACE: '0' }
  let server = await startChild(folder.path, settings)
  const proxy = await startFaultProxy(server.url)
  try {
    const { apiKey } = await addAccount(folder.path, 'ann')
    await client.login(proxy.url, apiKey)
    const bytes = randomBytes(24 * MIB)
    writeFileSync(join(client.folder, 'film.bin'), bytes)
    const upload = client.start('upload', 'film.bin', '--json', '--chunk-size', '1MB')
    const chunks = () => proxy.requests.filter(({ method }) => method === 'PATCH').length
    for (const _ of [1, 2, 3]) {
      const before = chunks()
      await eventually('some more has been sent', () => chunks() >= before + 4)
      await server.kill()
      server = await startChild(folder.path, settings)
    }
    const { code, output } = await upload.outcome
    expect(code).toBe(0)
    expect(JSON.parse(output)).toMatchObject({
      size: bytes.length,
      sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'),
    })
    const account = await client.run('info', '--json')
    expect(JSON.parse(account.output)).toMatchObject({ files_count: 1, storage_used: bytes.length })
  } finally {
    await proxy.stop()
    await server.kill()
  }
})
