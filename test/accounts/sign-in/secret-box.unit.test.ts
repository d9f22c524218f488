import { describe, expect, test } from 'bun:test'
import { createSecretBox } from '../../../src/accounts/sign-in/secret-box.ts'
import { base32Of } from '../../../src/accounts/sign-in/totp.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { formerRows, formerValuesKept } from './former/values.ts'

describe('what is encrypted', () => {
  test('is read with the same secret alone, and only as it was written', () => {
    const box = createSecretBox('a secret', systemRandom)
    const sealed = box.seal('Ünï text')
    expect(createSecretBox('a secret', systemRandom).open(sealed)).toBe('Ünï text')
    expect(box.seal('Ünï text')).not.toBe(sealed)
    expect(() => createSecretBox('another secret', systemRandom).open(sealed)).toThrow()
    for (const at of [0, 24, sealed.length / 2, sealed.length - 1]) {
      const index = Math.floor(at)
      const changed = sealed.slice(0, index) + (sealed[index] === '0' ? '1' : '0') + sealed.slice(index + 1)
      expect(() => box.open(changed)).toThrow()
    }
    expect(() => box.open('')).toThrow()
    expect(() => box.open(sealed.slice(0, -2))).toThrow()
  })

  test('is what better-auth has encrypted as well', async () => {
    const rows = await formerRows()
    const key = /values \('auth_secret', '(\w+)'\)/.exec(rows.join('\n'))?.[1] ?? ''
    const box = createSecretBox(key, systemRandom)
    const [ofBert = ''] = rows.filter((row) => row.startsWith('insert into two_factors'))
    const [secret = '', recoveryCodes = ''] = [...ofBert.matchAll(/'([0-9a-f]+)'/g)].map(([, text]) => text)
    const { bert } = await formerValuesKept()
    expect(base32Of(box.open(secret))).toBe(bert.secret)
    expect(JSON.parse(box.open(recoveryCodes))).toEqual(bert.recoveryCodes)
  })
})
