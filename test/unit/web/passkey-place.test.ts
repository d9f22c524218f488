import { expect, test } from 'bun:test'
import { passkeyObstacleAt } from '../../../web/shared/passkey-place.ts'

const texts = { elsewhere: 'at {address}', nowhere: 'nowhere' }

test.each([
  ['https://files.example.org', 'https://files.example.org', null],
  ['http://localhost:3000', 'http://localhost:3000', null],
  ['http://127.0.0.1:3000', 'http://localhost:3000', 'at http://localhost:3000'],
  ['http://192.0.2.7', 'https://files.example.org', 'at https://files.example.org'],
  ['https://other.example.org', 'https://files.example.org', 'at https://files.example.org'],
  ['http://files.example.org', 'https://files.example.org', 'at https://files.example.org'],
  ['https://192.0.2.7', 'https://192.0.2.7', 'nowhere'],
  ['http://[::1]:3000', 'http://[::1]:3000', 'nowhere'],
])('a page at %s of a server at %s says where passkeys work', (origin, publicUrl, said) => {
  expect(passkeyObstacleAt(origin, publicUrl, texts)).toBe(said)
})
