/** Mails on their way out: from either database, by two nodes at once, to a real SMTP server. */
import { describe, expect, test } from 'bun:test'
import { dropExpiredMails } from '../../../src/accounts/sign-in/password-resets.ts'
import { insertAccount } from '../../../src/core/accounts.rows.ts'
import type { Database } from '../../../src/database/database.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { DAY, MINUTE } from '../../../src/domain/clock.ts'
import { parseMailAddress } from '../../../src/domain/mail-address.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createMailSending, type Mail, MailServerUnavailable } from '../../../src/mail/mail-sending.job.ts'
import { createOutbox } from '../../../src/mail/outbox.ts'
import { createSmtpTransport } from '../../../src/mail/smtp.ts'
import { databases } from '../../support/databases/databases.ts'
import { type HandClock, handClock } from '../../support/hand-clock.ts'
import { keptLog } from '../../support/kept-log.ts'
import { type MailServer, NO_MAIL_SERVER, startMailServer } from '../../support/sign-in/mail-server.ts'

const PUBLIC = 'https://files.example.org'
const always = () => true

function addressed(local: string) {
  const address = parseMailAddress(`${local}@example.org`)
  if (address === null) throw new Error(`${local} makes no address`)
  return address
}

async function write(db: Database, clock: HandClock, locals: readonly string[]): Promise<void> {
  const outbox = createOutbox(clock, systemRandom, addressed('files'))
  const username = `owner-${locals[0]}`
  const content = { kind: 'password changed', username } as const
  await inTransaction(db, async (trx) => {
    const account = await insertAccount(trx, systemRandom, { username, created_at: 0 })
    for (const local of locals) {
      await outbox.put(trx, { account, to: addressed(local), language: 'en', content, lasts: DAY })
    }
  })
}

function sendingOf(db: Database, clock: HandClock, mails: MailServer, log = keptLog()) {
  const transport = createSmtpTransport(mails.config, PUBLIC, () => 'Files of Example')
  return createMailSending({ db, clock, random: systemRandom, transport, log })
}

describe.each([...databases('mail-sending')])('mails on %s', (_name, open) => {
  test('are sent once each by two nodes that begin together, and nothing of them is left', async () => {
    await using database = await open()
    await using mails = await startMailServer()
    const clock = handClock()
    const locals = Array.from({ length: 12 }, (_, at) => `person${at}`)
    await write(database.db, clock, locals)
    const nodes = [database.db, database.another()].map((db) => sendingOf(db, clock, mails))
    await Promise.all(nodes.map((node) => node.run(always)))
    expect(mails.received.map(({ to }) => to).sort()).toEqual(locals.map((local) => addressed(local)).sort())
    expect(await database.db.selectFrom('mails').selectAll().execute()).toEqual([])
  })

  test('that a node died with are sent by another, under the same id', async () => {
    await using database = await open()
    await using mails = await startMailServer()
    const clock = handClock()
    await write(database.db, clock, ['ada'])
    const dying = createMailSending({
      db: database.db,
      clock,
      random: systemRandom,
      log: keptLog(),
      transport: {
        async send(mail) {
          await createSmtpTransport(mails.config, PUBLIC, () => 'Files of Example').send(
            mail,
            AbortSignal.timeout(10_000),
          )
          throw new Error('the node dies before it knows')
        },
      },
    })
    await expect(dying.run(always)).rejects.toThrow('dies')
    const other = sendingOf(database.another(), clock, mails)
    await other.run(always)
    expect(mails.received.length).toBe(1)
    clock.advance(6 * MINUTE)
    await other.run(always)
    const [first, second, ...more] = mails.received
    expect([second?.messageId, more.length]).toEqual([first?.messageId ?? '', 0])
  })

  test('are tried less and less often, and given up when they are of no use any more', async () => {
    await using database = await open()
    await using mails = await startMailServer()
    const clock = handClock()
    const log = keptLog()
    await write(database.db, clock, ['ada'])
    mails.answerWith(addressed('ada'), Array(1000).fill(451))
    const node = sendingOf(database.db, clock, mails, log)
    const tries: number[] = []
    for (let hours = 0; hours < 24; hours++) {
      for (let minutes = 0; minutes < 60; minutes += 10) {
        await node.run(always)
        clock.advance(10 * MINUTE)
      }
      const row = await database.db.selectFrom('mails').select('tries').executeTakeFirstOrThrow()
      tries.push(row.tries)
    }
    expect(tries[0]).toBeGreaterThan(3)
    expect(tries.at(-1)).toBeLessThan(14)
    await dropExpiredMails({ db: database.db, clock, log })
    expect(await database.db.selectFrom('mails').selectAll().execute()).toEqual([])
    expect(log.lines.at(-1)?.message).toContain('dropped')
  })
})

describe('a mail server', () => {
  const mail: Mail = {
    messageId: '<one@example.org>',
    to: addressed('ada'),
    language: 'en',
    content: { kind: 'password changed', username: 'ada' },
    writtenAt: Date.UTC(2030, 0, 1),
  }
  const handOver = (config: MailServer['config']) =>
    createSmtpTransport(config, PUBLIC, () => 'Files of Example').send(mail, AbortSignal.timeout(20_000))

  test('gets no password over a line that others could read', async () => {
    await using mails = await startMailServer()
    // Another name of this machine, which nobody can tell by the name.
    await expect(handOver({ ...mails.config, host: '127.1' })).rejects.toThrow(MailServerUnavailable)
    expect([mails.logins(), mails.received.length]).toEqual([0, 0])
    await handOver(mails.config)
    expect([mails.logins(), mails.received.length]).toEqual([1, 1])
  })

  test('whose certificate nobody vouches for gets neither password nor mail', async () => {
    await using mails = await startMailServer({ tls: true })
    await expect(handOver(mails.config)).rejects.toThrow(MailServerUnavailable)
    expect([mails.logins(), mails.received.length]).toEqual([0, 0])
  })

  test('that takes no password takes no mail, which is nobody’s fault but ours', async () => {
    await using mails = await startMailServer()
    const login = { user: 'files', password: 'wrong' }
    await expect(handOver({ ...mails.config, login })).rejects.toThrow(MailServerUnavailable)
  })

  test('that stands still is left when the node stops', async () => {
    await using stack = new AsyncDisposableStack()
    const mute = stack.adopt(Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } }), (it) =>
      it.stop(true),
    )
    const stopping = new AbortController()
    const config = { ...NO_MAIL_SERVER, port: mute.port }
    const sent = createSmtpTransport(config, PUBLIC, () => 'Files of Example').send(mail, stopping.signal)
    stopping.abort()
    await expect(sent).rejects.toThrow(MailServerUnavailable)
  })

  test('is told when the mail was written, and that nobody’s absence is to be answered', async () => {
    await using mails = await startMailServer()
    await handOver(mails.config)
    const [received] = mails.received
    expect(Date.parse(received?.headers.get('date') ?? '')).toBe(mail.writtenAt)
    expect(received?.headers.get('auto-submitted')).toBe('auto-generated')
    expect(received?.text).toContain(`${PUBLIC}/sign-in/forgotten`)
  })
})
