import { describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../../../src/config.ts'
import { checkSettings } from '../../../../src/operations/doctor/machine.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'

const s3 = {
  HOLDFAST_S3_BUCKET: 'files',
  HOLDFAST_S3_ACCESS_KEY_ID: 'key',
  HOLDFAST_S3_SECRET_ACCESS_KEY: 'secret',
  HOLDFAST_S3_PATH_STYLE: 'true',
  HOLDFAST_S3_REDIRECT: 'true',
}
const oidc = {
  HOLDFAST_OIDC_CLIENT_ID: 'id',
  HOLDFAST_OIDC_CLIENT_SECRET: 'secret',
  HOLDFAST_PUBLIC_URL: 'https://files.example.org',
}

describe('settings that defeat each other', () => {
  test.each([
    ['nothing set', {}, ['ok']],
    [
      'a store that only this machine reaches',
      { ...s3, HOLDFAST_S3_ENDPOINT: 'http://127.0.0.1:9000' },
      ['problem'],
    ],
    [
      'a store without TLS behind a page with it',
      {
        ...s3,
        HOLDFAST_S3_ENDPOINT: 'http://store.example.org',
        HOLDFAST_PUBLIC_URL: 'https://files.example.org',
      },
      ['problem'],
    ],
    [
      'a store that visitors reach',
      {
        ...s3,
        HOLDFAST_S3_ENDPOINT: 'https://store.example.org',
        HOLDFAST_PUBLIC_URL: 'https://files.example.org',
      },
      ['ok'],
    ],
    [
      'the same store, and nobody is sent there',
      { ...s3, HOLDFAST_S3_ENDPOINT: 'http://127.0.0.1:9000', HOLDFAST_S3_REDIRECT: 'false' },
      ['ok'],
    ],
    ['a provider without TLS', { ...oidc, HOLDFAST_OIDC_ISSUER: 'http://sign-in.example.org' }, ['problem']],
    ['a provider on this machine', { ...oidc, HOLDFAST_OIDC_ISSUER: 'http://localhost:8080' }, ['ok']],
    ['less for guests than a file may have', { HOLDFAST_GUEST_HOURLY_SIZE: '1GB' }, ['advice']],
    [
      'the same, without guests',
      { HOLDFAST_GUEST_HOURLY_SIZE: '1GB', HOLDFAST_GUEST_UPLOADS: 'false' },
      ['ok'],
    ],
  ] as const)('%s', (_, environment, levels) => {
    expect(checkSettings(loadConfig(environment)).map(({ level }) => level)).toEqual([...levels])
  })

  test('name the line to change', () => {
    const [finding] = checkSettings(loadConfig({ HOLDFAST_GUEST_HOURLY_SIZE: '1GB' }))
    expect(finding?.changes).toEqual([{ where: 'Holdfast', line: 'HOLDFAST_GUEST_HOURLY_SIZE=10 GB' }])
  })
})

test('a file with a secret that everybody can read is a problem, with the command that closes it', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'token')
  writeFileSync(path, 'a-token-of-some-length')
  chmodSync(folder.path, 0o755)
  const looked = (mode: number) => {
    chmodSync(path, mode)
    const config = loadConfig({ HOLDFAST_METRICS: 'on', HOLDFAST_METRICS_TOKEN_FILE: path })
    return checkSettings(config).find(({ check }) => check === 'secret-files')
  }
  expect(looked(0o640)?.level).toBe('ok')
  expect(looked(0o644)).toMatchObject({ level: 'problem', changes: [{ line: `chmod o= ${path}` }] })
})
