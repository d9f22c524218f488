import { expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { startProgram } from '../../support/processes/program.ts'
import { testWith } from '../../support/processes/tools.ts'
import { startHoldfast } from '../../support/servers/holdfast.ts'

const DELIVERED = readFileSync(join(import.meta.dir, '../../../deploy/Caddyfile'), 'utf8')

testWith(['caddy'], 'the delivered Caddyfile passes requests on, and keeps metrics to itself', async () => {
  using folder = temporaryFolder()
  const host = await startHoldfast({ metrics: { token: null } })
  const url = `http://127.0.0.1:${await freePort()}`
  const path = join(folder.path, 'Caddyfile')
  // Without a certificate, which needs a name that the world knows.
  const here = DELIVERED.replace('files.example.org', url).replace('127.0.0.1:3000', new URL(host.url).host)
  writeFileSync(path, `{\n\tadmin off\n}\n${here}`)
  const caddy = startProgram(['caddy', 'run', '--config', path, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: folder.path },
  })
  try {
    await eventually(
      'Caddy listens',
      async () => (await fetch(`${url}/health`).catch(() => null))?.status === 200,
    )
    expect((await fetch(`${host.url}/metrics`)).status).toBe(200)
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    const sent = await fetch(`${url}/sent.txt`, { method: 'PUT', body: 'through Caddy' })
    expect(sent.status).toBe(200)
  } finally {
    caddy.kill('SIGTERM')
    await caddy.ended
    await host.stop()
  }
})
