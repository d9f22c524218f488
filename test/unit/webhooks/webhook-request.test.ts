/** Requests to addresses that mean it ill: where they lead, and what their receivers may do. */
import { afterAll, expect, test } from 'bun:test'
import { createServer } from 'node:tls'
import { createWebhookSender, isPublicAddress, type Resolve } from '../../../src/webhooks/webhook-request.ts'

const asked: Request[] = []
const endless = Promise.withResolvers<void>()
const receiver = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    asked.push(request)
    switch (new URL(request.url).pathname) {
      case '/redirect':
        return Response.redirect('/ok', 307)
      case '/never':
        return new Promise<Response>(() => {})
      case '/endless':
        return new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
            cancel: () => endless.resolve(),
          }),
        )
      default:
        return new Response('thanks', { headers: { 'x-body': await request.text() } })
    }
  },
})
afterAll(() => receiver.stop(true))

const here = `127.0.0.1:${receiver.port}`
const rest = { headers: { 'x-event': 'yes' }, body: 'news', tries: 0 }
const signal = new AbortController().signal

const noName: Resolve = async (host) => {
  throw new Error(`${host} was looked up`)
}

function post(url: string, anyNetwork: boolean, resolve = noName, more: { tries?: number } = {}) {
  return createWebhookSender({ anyNetwork, resolve }).post({ ...rest, ...more, url, signal })
}

const REFUSED = { kind: 'failed', failure: 'connection' } as const
const NOTHING = { kind: 'failed', failure: 'connection' } as const

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.0.0.0x1',
  '①②⑦.0.0.1',
  '0',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.178.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[100::1]',
  '[2001::1]',
  '[2001:2::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[3fff::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
])('nothing is sent to %s', async (host) => {
  expect(await post(`http://${host}:${receiver.port}/`, false)).toEqual(REFUSED)
  expect(asked).toHaveLength(0)
})

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.32.0.0',
  '198.17.255.255',
  '223.255.255.255',
  '2600::1',
  '2001:4860:4860::8888',
  '2a00::1',
])('%s is an address of the Internet', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test('what is no address, or has a zone, is none of the Internet', () => {
  for (const text of ['', 'example.org', '2a00::1%eth0', '1.1.1', '1.1.1.1.1'])
    expect(isPublicAddress(text)).toBe(false)
})

test('a name is refused when it leads into a private network', async () => {
  for (const addresses of [['127.0.0.1'], ['10.0.0.1', '::1'], ['::ffff:127.0.0.1'], ['fe80::1%lo'], []]) {
    expect(await post(`http://harmless.example:${receiver.port}/`, false, async () => addresses)).toEqual(
      REFUSED,
    )
  }
  expect(await post(`http://localhost:${receiver.port}/`, false, async () => ['127.0.0.1'])).toEqual(REFUSED)
  expect(asked).toHaveLength(0)
})

test('a name is looked up once, and the connection goes to the address that was looked at', async () => {
  const looks: string[] = []
  const rebinding: Resolve = async (host) => {
    looks.push(host)
    return looks.length === 1 ? ['127.0.0.1'] : ['127.0.0.2']
  }
  const answer = await post(`http://rebinding.example:${receiver.port}/ok`, true, rebinding)
  expect(answer).toEqual({ kind: 'answered', status: 200 })
  expect(looks).toEqual(['rebinding.example'])
  const [request] = asked.splice(0)
  expect(request?.headers.get('host')).toBe(`rebinding.example:${receiver.port}`)
  expect(request?.headers.get('x-event')).toBe('yes')
})

test('each attempt goes to the next address of the host', async () => {
  const dead: Resolve = async () => ['127.0.0.1', '127.0.0.2']
  const ways = [0, 1, 2].map((tries) => post(`http://two.example:${receiver.port}/ok`, true, dead, { tries }))
  const ok = { kind: 'answered', status: 200 } as const
  expect(await Promise.all(ways)).toEqual([ok, NOTHING, ok])
  asked.length = 0
})

test('a redirect is an answer, and nobody follows it', async () => {
  expect(await post(`http://${here}/redirect`, true)).toEqual({ kind: 'answered', status: 307 })
  expect(asked.splice(0)).toHaveLength(1)
})

test('an endless answer is left at its beginning', async () => {
  expect(await post(`http://${here}/endless`, true)).toEqual({ kind: 'answered', status: 200 })
  await endless.promise
  asked.length = 0
})

test('nobody waits for ever: not for an answer, not for a name', async () => {
  const impatient = createWebhookSender({
    anyNetwork: true,
    mayTake: 50,
    resolve: () => new Promise(() => {}),
  })
  const late = { kind: 'failed', failure: 'timeout' } as const
  expect(await impatient.post({ ...rest, url: `http://${here}/never`, signal })).toEqual(late)
  expect(await impatient.post({ ...rest, url: 'http://slow.example/', signal })).toEqual(late)
  asked.length = 0
})

test('who stops the server stops the request', async () => {
  const stopping = new AbortController()
  const sender = createWebhookSender({ anyNetwork: true })
  const sent = sender.post({ ...rest, url: `http://${here}/never`, signal: stopping.signal })
  const settled = sent.then(
    () => 'answered',
    () => 'aborted',
  )
  while (asked.length === 0) await Bun.sleep(1)
  stopping.abort()
  expect(await settled).toBe('aborted')
  asked.length = 0
})

test('TLS asks for the name, and a certificate that nobody vouches for is no receiver', async () => {
  const names: string[] = []
  const server = createServer({
    SNICallback(name, done) {
      names.push(name)
      done(new Error('there is no certificate'))
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const local: Resolve = async () => ['127.0.0.1']
  expect(await post(`https://hook.example:${port}/`, true, local)).toEqual(NOTHING)
  expect(names).toEqual(['hook.example'])
  server.close()
})
