/** Commands beside a running server, to which three reports have come: the first of them is about a file that is gone. */
import { beforeAll, expect, test } from 'bun:test'
import type { Outcome } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { askPublic, deleteFile, type Uploaded, upload } from '../../support/clients/public.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)

let gone: Uploaded
let here: Uploaded

const host = await hostOfFile()
beforeAll(async () => {
  const { apiKey } = await host.addAccount()
  gone = await upload(host, { key: apiKey, name: 'gone.txt' })
  here = await upload(host, { key: apiKey, name: 'here.txt' })
  const another = await upload(host, { key: apiKey, name: 'another.txt' })
  await report(gone, 'malware', 'It steals\u001b[2J passwords.\nReally.')
  await report(here, 'copyright')
  await report(another, 'spam')
  await deleteFile(host, apiKey, gone.slug)
})

async function report({ slug }: Uploaded, reason: string, text?: string): Promise<void> {
  const answer = await askPublic(host, '/api/v1/file/report', { slug, reason, text })
  expect(answer.status).toBe(200)
}

function run(...words: string[]): Promise<Outcome> {
  const settings = { HOLDFAST_DATA_DIR: host.dataDir, HOLDFAST_PUBLIC_URL: 'https://files.example' }
  return holdfast(host.dataDir, ['report', ...words], settings)
}

async function numbers(...words: string[]): Promise<number[]> {
  const reports: { id: number }[] = JSON.parse((await run('list', '--json', ...words)).output)
  return reports.map(({ id }) => id)
}

test('list --json prints the open ones with their texts, the newest first', async () => {
  const { code, output, errors } = await run('list', '--json')
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const reports = JSON.parse(output)
  expect(reports.map(({ reason }: { reason: string }) => reason)).toEqual(['spam', 'copyright', 'malware'])
  expect(reports[2]).toEqual({
    id: 1,
    file: { id: gone.file_id, slug: gone.slug, name: 'gone.txt', sha256: gone.sha256 },
    reason: 'malware',
    text: 'It steals[2J passwords.\nReally.',
    created_at: TIME,
    state: 'open',
    closed_at: null,
  })
})

test('list prints a line for each', async () => {
  const { output } = await run('list')
  expect(output.trim().split('\n')).toHaveLength(4)
  expect(output).toMatch(new RegExp(`^2 +copyright +\\S+ +open +${here.slug} +here.txt$`, 'm'))
})

test('show prints one with its text, its page, and whether the file is still there', async () => {
  const first = (await run('show', '1')).output
  expect(first).toContain(`https://files.example/d/${gone.slug}\n`)
  expect(first).toContain(gone.sha256)
  expect(first).toMatch(/^Still there +no$/m)
  expect(first).toEndWith('\n\nIt steals[2J passwords.\nReally.\n')
  expect((await run('show', '2')).output).toMatch(/^Still there +yes$/m)
})

test('dismiss closes those that it names, and they stay in the list of all', async () => {
  expect(await run('dismiss', '1', '3')).toMatchObject({ code: 0, errors: '' })
  expect(await numbers()).toEqual([2])
  expect(await numbers('--all')).toEqual([3, 2, 1])
  expect((await run('show', '3')).output).toMatch(/^State +dismissed \d{4}-/m)
  expect(await run('dismiss', '3')).toMatchObject({ code: 0 })
  await run('dismiss', '2')
  expect((await run('list')).output).toStartWith('No open reports in ')
})

test.each(['show', 'dismiss'])('%s ends with 1 for a report that is not there', async (command) => {
  const { code, output, errors } = await run(command, '99')
  expect({ code, output }).toEqual({ code: 1, output: '' })
  expect(errors).toContain('no report 99')
})
