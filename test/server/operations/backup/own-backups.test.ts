/** Backups and rehearsals of a restore that the server does by itself, in processes of its own, and what it tells of them. */
// Only in test:all: many starts of the program; retention.test.ts has a rule.
// Only on a folder: runs the same commands; backup-nodes.contract.test.ts takes them from PostgreSQL and buckets.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { integrityAnswer } from '../../../../src/contract/operations.ts'
import { DAY, HOUR, SECOND } from '../../../../src/domain/clock.ts'
import { MAIN, onlyThese } from '../../../support/cli/command.ts'
import { readMetrics } from '../../../support/clients/metrics.ts'
import { GENEROUS, textBytes, upload } from '../../../support/clients/public.ts'
import { catalogOf, contentsOf, writeCatalog } from '../../../support/operations/backups.ts'
import { environmentOf } from '../../../support/operations/commands.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { runProgram, startProgram, watchProgram } from '../../../support/processes/program.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../../../support/sign-in/administrator.ts'
import { type MailServer, startMailServer } from '../../../support/sign-in/mail-server.ts'
import { verifyAddress } from '../../../support/sign-in/verified-address.ts'
import { contentOf } from '../../../support/storage/stored-contents.ts'

const TOKEN = 'a-token-of-some-length'
const ADDRESS = 'root@example.org'

const folder = temporaryFolder()
const target = join(folder.path, 'backup')
let mails: MailServer
let host: TestHoldfast
let root: TestAdministrator
beforeAll(async () => {
  mails = await startMailServer()
  const own = {
    place: { kind: 'folder', path: target } as const,
    ...{ hours: 24, keepDaily: 7, keepWeekly: 4, rate: null, drillDays: 7, drillFolder: folder.path },
  }
  host = await startHoldfast({
    ...GENEROUS,
    publicUrl: 'http://files.example.org',
    mail: mails.config,
    metrics: { token: TOKEN },
    backup: { passphraseFile: null, s3Key: null, own },
  })
  root = await administrator(host)
  const { id } = await root.read('/../account', z.object({ id: z.number() }))
  await verifyAddress(host.database, id, ADDRESS)
}, 120_000)
afterAll(async () => {
  await host.stop()
  await mails[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function state() {
  const { text } = await root.get('/api/v1/admin/integrity')
  const { backup, drill } = integrityAnswer.parse(JSON.parse(text)).data
  if (backup === null || drill === null) throw new Error('the server makes backups')
  return { backup, drill }
}

async function later(milliseconds: number) {
  host.clock.advance(milliseconds)
  const before = mails.received.length
  await host.runJobs()
  return mails.received.slice(before)
}

const presentCatalog = async () => (await catalogOf(target)).catalog

test('they are made when they are due, and administrators hear that they can be restored', async () => {
  await upload(host, { name: 'kept.txt', bytes: textBytes('kept in the backup') })
  const [mail, ...more] = await later(0)
  expect(more).toEqual([])
  expect(mail).toMatchObject({ to: ADDRESS, subject: 'The backup can be restored' })
  expect(mail?.text).toContain('one file with 18 B')
  const made = await state()
  expect(made.backup).toMatchObject({ place: target, files: 1, wrong: 0, failure: null, state: 'waiting' })
  expect(made.drill).toMatchObject({ files: 1, wrong: 0, failure: null, taken_at: made.backup.taken_at })
  expect(await later(HOUR)).toEqual([])
  expect((await presentCatalog()).points).toHaveLength(1)
  const metrics = await readMetrics(host, TOKEN)
  expect(metrics.sum('holdfast_backup_interval_seconds')).toBe(DAY / SECOND)
  expect(metrics.sum('holdfast_backup_age_seconds')).toBeGreaterThanOrEqual(HOUR / SECOND)
  expect(metrics.sum('holdfast_drill_good')).toBe(1)
}, 120_000)

test('a place that is not mounted, or has the backup of others, is left alone and told of once a day', async () => {
  renameSync(target, `${target}-away`)
  const [mail, ...more] = await later(2 * DAY)
  expect(more).toEqual([])
  expect(mail?.subject).toBe('The backup failed')
  const found = (await state()).backup
  expect(found.failure).toContain('is it mounted?')
  expect(found.files).toBe(1)
  expect(existsSync(target)).toBe(false)
  renameSync(`${target}-away`, target)
  const own = await presentCatalog()
  writeCatalog(target, { ...own, installation: 'of others' })
  const others = readFileSync(join(target, 'mark'), 'utf8')
  expect(await later(HOUR)).toEqual([])
  expect((await state()).backup.failure).toContain('another installation')
  expect(readFileSync(join(target, 'mark'), 'utf8')).toBe(others)
  writeCatalog(target, own)
}, 120_000)

test('a rehearsal says no by mail where the copies have changed', async () => {
  const { taken_at: before } = (await state()).backup
  const copy = contentsOf(target).find(({ bytes }) => bytes.toString() === 'kept in the backup')
  writeFileSync(copy?.path ?? '', 'kept in the backuq')
  const [mail, ...more] = await later(8 * DAY)
  expect(more).toEqual([])
  expect(mail?.subject).toBe('The backup cannot be restored whole')
  const now = await state()
  expect(now.backup).toMatchObject({ failure: null })
  expect(now.backup.taken_at).not.toBe(before)
  expect(now.drill).toMatchObject({ wrong: 2, failure: null })
  expect((await readMetrics(host, TOKEN)).sum('holdfast_drill_good')).toBe(0)
}, 120_000)

test('a command that a signal stops while it waits says so, and ends with the usual code of the signal', async () => {
  const own = await presentCatalog()
  writeCatalog(target, own, { holder: 'somebody else', process: null, until: Date.now() + HOUR })
  const program = startProgram([process.execPath, '--no-env-file', MAIN, 'backup', target], {
    env: onlyThese(environmentOf(host.config)),
  })
  const ended = await watchProgram(program, ({ errors }) => {
    if (errors.includes('waiting')) program.kill('SIGINT')
  })
  expect(ended.code).toBe(128 + constants.signals.SIGINT)
  expect(ended.errors).toEndWith(
    'error: stopped; no point was added, and the same command goes on from here\n',
  )
  writeCatalog(target, own)
}, 120_000)

test('a check whose reader has gone does all of its work, and tells by its code what it has found', async () => {
  const { slug } = await upload(host, { name: 'gone.txt', bytes: textBytes('gone from the store') })
  const { key } = await contentOf(host, slug)
  await host.cutBlob(key, null)
  const words = [process.execPath, '--no-env-file', MAIN, 'check']
  const piped = ['bash', '-c', 'set -o pipefail; "$@" | true', 'bash', ...words]
  const { code, errors } = await runProgram(piped, { env: onlyThese(environmentOf(host.config)) })
  expect({ code, errors }).toEqual({ code: 3, errors: '' })
}, 120_000)
