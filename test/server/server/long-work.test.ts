// Only on a folder: is about statements on the main thread; the other nodes answer in any case.
// A process of its own: has passwords hashed at full cost, and looks how long the process is busy.
import { expect, test } from 'bun:test'
import { fullPasswordCosts } from '../../support/cheap-passwords.ts'
import { api } from '../../support/clients/api.ts'
import { changeFolder, makeFolder, unlock, visit } from '../../support/clients/public.ts'
import { signedIn } from '../../support/clients/site-visitor.ts'
import { addCopies } from '../../support/contents/file-copies.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const FILES = 2000
/** One or two may slip in before the work begins, whatever the server does then. */
const SEVERAL = 10

const holdfast = await hostOfFile()

test('deleting 2,000 files in one request lets others be answered in between', async () => {
  const owner = await holdfast.addAccount()
  const account = api(holdfast, owner.apiKey)
  const { file_id } = await account.put('x')
  const identifiers = await addCopies(holdfast.database, file_id, FILES)
  expect(await account.get('/api/v1/account')).toMatchObject({ body: { data: { files_count: FILES + 1 } } })

  let deleted = false
  const deletion = account.post('/file/delete', { identifiers }).finally(() => {
    deleted = true
  })
  let answered = 0
  while (!deleted) {
    expect((await visit(holdfast, '/health')).status).toBe(200)
    if (!deleted) answered++
  }
  expect(await deletion).toMatchObject({
    status: 200,
    body: { success: true, total_processed: FILES, successful_deletes: FILES, files_deleted: FILES },
  })
  expect(answered).toBeGreaterThan(SEVERAL)
  expect(await account.get('/api/v1/account')).toMatchObject({ body: { data: { files_count: 1 } } })
})

test('passwords are kept as argon2id at the costs that OWASP asks for, and making and comparing them lets others be answered', async () => {
  using _ = fullPasswordCosts()
  const { username, apiKey } = await holdfast.addAccount()
  const folder = await makeFolder(holdfast, apiKey)
  const password = 'violet kettle anchors drift'
  const browser = await signedIn(holdfast, username)
  const work = (async () => {
    for (let times = 0; times < 4; times++) {
      await changeFolder(holdfast, apiKey, folder, { password: `sesame ${times}` })
      await unlock(holdfast, `/f/${folder}`, `sesame ${times}`)
      expect((await browser.send('POST', '/api/v1/session', { username, password })).status).toBe(200)
    }
  })()
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  let answered = 0
  while (!done) {
    expect((await visit(holdfast, '/health')).status).toBe(200)
    if (!done) answered++
  }
  await ended
  // Each of the twelve takes tens of milliseconds of some thread.
  expect(answered).toBeGreaterThan(12 * SEVERAL)
  const { database } = holdfast
  const kept = [
    ...(await database.selectFrom('folders').select('password_hash').execute()),
    ...(await database.selectFrom('identities').select('password_hash').execute()),
  ].flatMap(({ password_hash }) => (password_hash === null ? [] : [password_hash]))
  expect(kept.map((hash) => hash.split('$').slice(1, 4))).toEqual(
    Array(2).fill(['argon2id', 'v=19', 'm=19456,t=2,p=1']),
  )
})
