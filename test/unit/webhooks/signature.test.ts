/** What is signed, and the forms of secrets and addresses. */
import { expect, test } from 'bun:test'
import { formatWebhookSecret, parseWebhookSecret, parseWebhookUrl } from '../../../src/domain/webhook.ts'
import { webhookHeaders } from '../../../src/webhooks/webhook-sending.job.ts'

test('a message is signed as the example of Standard Webhooks', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const headers = webhookHeaders(
    secret,
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330_500,
    '{"test": 2432232314}',
  )
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('a secret has 24 to 64 bytes', () => {
  for (const length of [24, 32, 64]) {
    const bytes = new Uint8Array(length).fill(length)
    expect(parseWebhookSecret(formatWebhookSecret(bytes))).toEqual(Buffer.from(bytes))
  }
  const short = formatWebhookSecret(new Uint8Array(23))
  const long = formatWebhookSecret(new Uint8Array(65))
  const bare = formatWebhookSecret(new Uint8Array(32)).slice('whsec_'.length)
  for (const wrong of ['', 'whsec_', short, long, bare, 'whsec_not base64 at all, but long enough for it']) {
    expect(parseWebhookSecret(wrong)).toBeNull()
  }
})

test.each([
  ['https://hooks.example.org/a?b=c#d', 'https://hooks.example.org/a?b=c'],
  ['HTTP://Example.ORG:8080', 'http://example.org:8080/'],
  ['http://example.org:80/', 'http://example.org/'],
  ['https://example.org:80/', 'https://example.org:80/'],
])('the address %p is %p', (text, url) => {
  expect(parseWebhookUrl(text)).toBe(url)
})

test.each([
  '',
  'hooks.example.org',
  'ftp://example.org/',
  'file:///etc/passwd',
  'http://',
  'https://me@example.org/',
  'https://me:secret@example.org/',
  'http://example.org:25/',
  'http://example.org:22/',
  'http://example.org:1023/',
  'http://300.1.1.1/',
  `https://example.org/${'a'.repeat(2000)}`,
])('%p is no address of a webhook', (text) => {
  expect(parseWebhookUrl(text)).toBeNull()
})
