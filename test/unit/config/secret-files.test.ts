/** Secrets in files. */
import { describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ConfigError,
  type Environment,
  fileVariables,
  openToOthers,
} from '../../../src/config/environment.ts'
import { type Config, loadConfig, settingsInForce } from '../../../src/config.ts'
import { settings } from '../../../src/settings.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const problemsOf = (environment: Environment) => {
  try {
    loadConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

/** What each secret needs beside it, and where it is then. */
const SECRETS: Record<string, { text: string; beside: Environment; found: (config: Config) => unknown }> = {
  HOLDFAST_DATABASE_URL: {
    text: 'postgres://me:hunter2@db.example.org/holdfast',
    beside: {},
    found: (config) => config.databaseUrl,
  },
  HOLDFAST_S3_SECRET_ACCESS_KEY: {
    text: 'hunter2',
    beside: {
      HOLDFAST_S3_ENDPOINT: 'https://s3.example.org',
      HOLDFAST_S3_BUCKET: 'bucket',
      HOLDFAST_S3_ACCESS_KEY_ID: 'id',
    },
    found: (config) => config.s3?.secretAccessKey,
  },
  HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY: {
    text: 'hunter2',
    beside: { HOLDFAST_BACKUP_S3_ACCESS_KEY_ID: 'id' },
    found: (config) => config.backup.s3Key?.secretAccessKey,
  },
  HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY: {
    text: 'hunter2',
    beside: { HOLDFAST_MIRROR: 'https://s3.example.org/mirror', HOLDFAST_MIRROR_S3_ACCESS_KEY_ID: 'id' },
    found: ({ mirror }) => (mirror?.place.kind === 's3' ? mirror.place.s3.secretAccessKey : null),
  },
  HOLDFAST_OIDC_CLIENT_SECRET: {
    text: 'hunter2',
    beside: {
      HOLDFAST_OIDC_ISSUER: 'https://id.example.org',
      HOLDFAST_OIDC_CLIENT_ID: 'id',
      HOLDFAST_PUBLIC_URL: 'https://files.example.org',
    },
    found: (config) => config.oidc?.clientSecret,
  },
  HOLDFAST_SMTP_URL: {
    text: 'smtp://me:hunter2@mail.example.org',
    beside: { HOLDFAST_MAIL_FROM: 'files@example.org', HOLDFAST_PUBLIC_URL: 'https://files.example.org' },
    found: ({ mail }) => `smtp://${mail?.login?.user}:${mail?.login?.password}@${mail?.host}`,
  },
  HOLDFAST_METRICS_TOKEN: {
    text: 'hunter2-of-some-length',
    beside: { HOLDFAST_METRICS: 'on' },
    found: (config) => config.metrics?.token,
  },
}

describe('every secret may lie in a file that its variable with _FILE names', () => {
  test('which holds for all settings that hold one', () => {
    const secret = Object.values(settings)
      .filter((setting) => 'isSecret' in setting || 'holdsPassword' in setting)
      .map(({ variable }) => variable)
      // The server's own secret has had a setting for its file from the beginning.
      .filter((variable) => variable !== settings.secret.variable)
    expect(Object.keys(SECRETS).sort()).toEqual(secret.sort())
    expect(fileVariables().sort()).toEqual(secret.map((variable) => `${variable}_FILE`).sort())
  })

  test.each(Object.entries(SECRETS))('%s', (variable, { text, beside, found }) => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'secret')
    // As editors and `echo` leave it.
    writeFileSync(path, `\uFEFF${text}\n`)
    const environment = { ...beside, [`${variable}_FILE`]: path }
    const config = loadConfig(environment)
    expect(found(config)).toBe(text)
    expect(config.secretFiles).toEqual([{ variable: `${variable}_FILE`, path }])
    const shown = settingsInForce(environment).find((setting) => setting.variable === variable)
    expect([shown?.isDefault, shown?.value.includes('hunter2')]).toEqual([false, false])
    // Neither an unreadable file, nor an empty one, nor two opinions pass for a setting that is left out.
    expect(problemsOf({ ...environment, [variable]: text })[0]).toMatchObject({
      variable: `${variable}_FILE`,
      reason: `${variable} is set as well; leave one of them out`,
    })
    const missing = join(folder.path, 'missing')
    const gone = problemsOf({ ...environment, [`${variable}_FILE`]: missing })
    expect(gone).toContainEqual({
      variable: `${variable}_FILE`,
      value: missing,
      reason: expect.stringContaining('cannot be read: ENOENT'),
    })
    writeFileSync(path, ' \n')
    expect(problemsOf(environment)).toContainEqual({
      variable: `${variable}_FILE`,
      value: path,
      reason: 'it is empty',
    })
  })

  test('and what it holds is told by nothing but its name, when it is not allowed', () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'secret')
    writeFileSync(path, 'hunter2:no address')
    const problems = problemsOf({ HOLDFAST_DATABASE_URL_FILE: path })
    expect(problems).toMatchObject([{ variable: 'HOLDFAST_DATABASE_URL_FILE', value: path }])
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })
})

test('a file with a secret is open to others when its mode and every folder above it let them', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'secret')
  writeFileSync(path, 'x')
  const files = [{ variable: 'HOLDFAST_SECRET_FILE', path }]
  const modes = (ofFolder: number, ofFile: number) => {
    chmodSync(folder.path, ofFolder)
    chmodSync(path, ofFile)
    return openToOthers(files).length
  }
  expect([modes(0o755, 0o644), modes(0o755, 0o640), modes(0o750, 0o644), modes(0o711, 0o604)]).toEqual([
    1, 0, 0, 1,
  ])
  // Container engines mount it there for this container alone.
  expect(openToOthers([{ variable: 'HOLDFAST_SECRET_FILE', path: '/run/secrets/none' }])).toEqual([])
})
