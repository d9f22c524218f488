/**
 * Odd requests by the thousand to a real server: none is answered 500, none is left without an end, and afterwards nothing
 * is left of them. HOLDFAST_TEST_FUZZ_CASES says how many, HOLDFAST_TEST_FUZZ_SEED repeats a run.
 */
// Only in test:all: thousands of requests; parsers.test.ts has what reads them.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { chance } from '../support/chance.ts'
import { caller } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { patient } from '../support/patience.ts'
import { addAccount, logLines, startChild, temporaryFolder } from '../support/processes/child.ts'
import { openBlobs, openFiles } from '../support/processes/open-files.ts'
import { type Known, oddRequest } from './grammar.ts'

const CASES = Number(process.env.HOLDFAST_TEST_FUZZ_CASES ?? 10_000)
const SEED = Number(process.env.HOLDFAST_TEST_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const CONNECTIONS = 16
/** Milliseconds in which each request has to be answered, or its connection closed. */
const ANSWERED_WITHIN = patient(20)
/** What a server may say of itself: it does not know a method, a coding or a version. */
const MAY_BE = [501, 505]
const MIB = 1024 * 1024

const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

test(
  `${CASES} odd requests get answers that are no fault of the server`,
  async () => {
    console.log(`fuzz: seed ${SEED}, ${CASES} requests`)
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const { apiKey } = await addAccount(data, 'fuzz')
    await using server = await startChild(data, {
      RATE_LIMIT: '1000000000',
      GUEST_RATE_LIMIT: '1000000000',
      MIN_FREE_SPACE: '0',
      METRICS: 'on',
      SIGN_UP: 'open',
      UPLOAD_EXPIRES: '1',
    })
    const known = await knownOf(server.url, apiKey)
    await send(server.url, oddRequest(chance(SEED), known))
    const before = { files: openFiles(server.pid).length, memory: residentOf(server.pid) }

    let next = 0
    const statuses = new Map<number, number>()
    const work = Array.from({ length: CONNECTIONS }, async () => {
      while (next < CASES) {
        const number = next++
        // Each is made from a seed of its own, so that it can be repeated alone.
        const request = oddRequest(chance(SEED + number), known)
        const status = await send(server.url, request)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === NO_END || (status >= 500 && !MAY_BE.includes(status))) {
          throw new Error(
            `request ${number} of seed ${SEED} was ${status === NO_END ? 'left without an end' : `answered ${status}`}: ${JSON.stringify(request.toString('latin1'))}\n${server.output().slice(-2000)}`,
          )
        }
      }
    })
    await Promise.all(work)
    console.log(`fuzz: ${JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))}`)
    expect(statuses.get(200) ?? 0).toBeGreaterThan(CASES / 50)

    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    const errors = logLines(server.output()).filter(({ level }) => level === 'error' || level === 50)
    expect(errors).toEqual([])
    await eventually('connections are closed', () => openFiles(server.pid).length <= before.files + 8, 60)
    expect(openBlobs(server.pid, data)).toBe(0)
    const rows = new Database(join(data, 'holdfast.sqlite'), { readonly: true })
    await eventually('no room is set aside', () => {
      const [left] = rows.query<{ count: number }, []>('select count(*) as count from reservations').all()
      return left?.count === 0
    })
    rows.close()
    expect(readdirSync(join(data, 'blobs', 'tmp'))).toEqual([])
    expect(residentOf(server.pid) - before.memory).toBeLessThan(256 * MIB)
  },
  patient(120) + CASES * 20,
)

async function knownOf(url: string, apiKey: string): Promise<Known> {
  const api = caller(url, apiKey)
  const folder = await api.createFolder('folder')
  const uploaded = await api.upload(new Uint8Array(5000).fill(65), 'a.txt', folder)
  const created = await fetch(`${url}/api/v1/uploads`, {
    method: 'POST',
    headers: { 'Tus-Resumable': '1.0.0', 'Upload-Length': '10', Authorization: `Bearer ${apiKey}` },
  })
  const token = created.headers.get('location')?.split('/').at(-1) ?? ''
  const { paths } = document.parse(await (await fetch(`${url}/api/v1/openapi.json`)).json())
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )
  const others = ['/d/{slug}', '/f/{identifier}', '/{name}', '/guide/{name}', '/docs', '/', '//', '*']
  return {
    apiKey,
    routes: [
      ...routes,
      ...others.flatMap((path) => ['GET', 'HEAD', 'PUT'].map((method) => ({ method, path }))),
    ],
    identifiers: [uploaded.slug, folder, token, '1', 'root'],
  }
}

const NO_END = -1
const CLOSED = 0

/** The status of the answer; CLOSED when the connection ended before it had one. */
function send(url: string, request: Buffer): Promise<number> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    const end = (status: number) => {
      clearTimeout(late)
      socket.destroy()
      resolve(status)
    }
    // What was announced and never sent is given up by the client, as clients do.
    const patience = setTimeout(() => socket.end(), 300)
    const late = setTimeout(() => end(NO_END), ANSWERED_WITHIN)
    socket.on('data', (bytes) => {
      received = (received + bytes.toString('latin1')).slice(-64 * 1024)
      const answers = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
      const status = answers.find((each) => each >= 200)
      if (status === undefined) return
      clearTimeout(patience)
      end(status)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(patience)
      end(CLOSED)
    })
    socket.write(request)
  })
}

function residentOf(pid: number): number {
  const [, pages = '0'] = new TextDecoder()
    .decode(Bun.spawnSync(['cat', `/proc/${pid}/statm`]).stdout)
    .split(' ')
  return Number(pages) * 4096
}
