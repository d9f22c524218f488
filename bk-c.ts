import { createHash } from 'node:crypto'

const buf = Buffer.alloc(64 * 1024 * 1024, 7)
for (let k = 0; k < 4; k++) {
  let t = performance.now()
  new Bun.CryptoHasher('sha256').update(buf).digest()
  console.log('bun sha256 MB/s', 64 / ((performance.now() - t) / 1000))
  t = performance.now()
  createHash('sha256').update(buf).digest()
  console.log('node sha256 MB/s', 64 / ((performance.now() - t) / 1000))
  t = performance.now()
  await crypto.subtle.digest('SHA-256', buf)
  console.log('subtle sha256 MB/s', 64 / ((performance.now() - t) / 1000))
}

import { createCipheriv, getCiphers, randomBytes } from 'node:crypto'

console.log(getCiphers().join(' '))
const key = await crypto.subtle.importKey('raw', randomBytes(32), 'AES-GCM', false, ['encrypt'])
let t = performance.now()
for (let i = 0; i < 16; i++)
  await crypto.subtle.encrypt({ name: 'AES-GCM', iv: randomBytes(12) }, key, buf.subarray(0, 4 << 20))
console.log('gcm', 64 / ((performance.now() - t) / 1000))
t = performance.now()
{
  const c = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12))
  for (let i = 0; i < 64; i++) c.update(buf.subarray(i << 20, (i + 1) << 20))
  c.final()
}
console.log('node gcm', 64 / ((performance.now() - t) / 1000))
