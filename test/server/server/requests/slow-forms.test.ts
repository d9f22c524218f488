import { beforeAll, describe, expect, test } from 'bun:test'
import { SMALL_BODIES } from '../../../../src/server/requests/body.ts'
import { api, refusal } from '../../../support/clients/api.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw, type RawConnection, type RawReply } from '../../../support/network/raw-connection.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

let folder: string
let key: string

const holdfast = await hostOfFile()
beforeAll(async () => {
  key = (await holdfast.addAccount()).apiKey
  folder = await api(holdfast, key).folder('locked', { password: 'sesame' })
})

const form = 'Content-Type: application/x-www-form-urlencoded'
/** One of them for each way to answer. */
const bodies = () =>
  [
    ['a form', `POST /sign-in HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\n${form}`],
    ['a form at a path that streams', `POST /f/${folder} HTTP/1.1\r\n${form}`],
    ['JSON', `POST /api/v1/folder HTTP/1.1\r\nAuthorization: Bearer ${key}`],
  ] as const

/** Sends the head of a request whose body is to have 1,000 bytes, and the first of them. */
async function begin(head: string): Promise<RawConnection> {
  const connection = await openRaw(holdfast.nodeUrl)
  await connection.send(`${head}\r\nHost: localhost\r\nAccept: */*\r\nContent-Length: 1000\r\n\r\nx`)
  return connection
}

describe('slow forms', () => {
  test('and slow JSON are refused and cut off, however steadily they trickle', async () => {
    const connections = await Promise.all(bodies().map(([, head]) => begin(head)))
    let answers: RawReply[] = []
    Promise.all(connections.map((connection) => connection.answer())).then((all) => {
      answers = all
    })
    await eventually('all are answered', async () => {
      await Promise.all(connections.map((connection) => connection.send('x')))
      holdfast.clock.advance(5_000)
      return answers.length > 0
    })
    for (const answer of answers) expect(answer).toMatchObject(refusal('REQUEST_TIMEOUT'))
    await eventually('they are closed', () => connections.every((connection) => connection.isClosed()))
  })

  test('are held for one address up to a number, and other requests are answered meanwhile', async () => {
    const [[, head]] = bodies()
    const held = await Promise.all(Array.from({ length: SMALL_BODIES.each.holders }, () => begin(head)))
    let answer: RawReply | null = null
    await eventually('one more is refused', async () => {
      const more = await begin(head)
      held.push(more)
      answer = await Promise.race([more.answer(), Bun.sleep(200).then(() => null)])
      return answer !== null
    })
    expect(answer).toMatchObject(refusal('RATE_LIMITED'))
    const other = await openRaw(holdfast.nodeUrl)
    await other.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(await other.answer()).toMatchObject({ status: 200 })
    for (const connection of [...held, other]) connection.destroy()
    await eventually('there is room again', async () => {
      const again = await openRaw(holdfast.nodeUrl)
      await again.send(`${head}\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx`)
      const { status } = await again.answer()
      again.destroy()
      return status !== 429
    })
  })
})

describe('a form that is larger than any it needs', () => {
  test('is refused before its body is read, and the limit is named', async () => {
    for (const [, head] of bodies()) {
      const connection = await openRaw(holdfast.nodeUrl)
      await connection.send(
        `${head}\r\nHost: localhost\r\nAccept: */*\r\nContent-Length: ${1024 * 1024 + 1}\r\n\r\n`,
      )
      const { status, body } = await connection.answer()
      expect({ status, body }).toMatchObject(refusal('PAYLOAD_TOO_LARGE'))
      expect(body).toMatchObject({ message: expect.stringMatching(/\b(8 KB|1 MB)\b/) })
      connection.destroy()
    }
  })
})
