/** A real SMTP server that keeps received mails. */
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { MailConfig } from '../../../src/config.ts'
import { parseSender } from '../../../src/domain/mail-address.ts'

export interface ReceivedMail {
  readonly to: string
  readonly from: string
  readonly subject: string
  /** Without the characters that only keep mail programs from making links. */
  readonly text: string
  readonly html: string
  /** Both as they were sent. */
  readonly written: string
  readonly messageId: string
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** Path of the first URL in the text. */
  readonly path: string
}

export interface MailServer extends AsyncDisposable {
  readonly port: number
  /** Settings of a host that sends mail through it. */
  readonly config: MailConfig
  /** Number of logins so far. */
  readonly logins: () => number
  /** All received mails, oldest first. */
  readonly received: readonly ReceivedMail[]
  /** Answers the next mails to that address with these reply codes, one each. */
  answerWith(address: string, replies: readonly number[]): void
  /** Stops listening. */
  goAway(): Promise<void>
  /** Listens again, on the same port. */
  comeBack(): Promise<void>
  /** The single mail to the address since the last call, or null. Throws when there are more. */
  take(address: string): ReceivedMail | null
}

const from = parseSender('Holdfast <files@example.org>')
if (from === null) throw new Error('that is an address')

/** Settings for hosts that may queue mails, which are never accepted. */
export const NO_MAIL_SERVER: MailConfig = { host: '127.0.0.1', port: 1, secure: false, login: null, from }

const LOGIN = { user: 'files@example.org', password: 'a password between servers' }

/** `tls`: offers STARTTLS, with an untrusted certificate. */
export async function startMailServer({ tls = false } = {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const replies = new Map<string, number[]>()
  const taken = new Set<ReceivedMail>()
  let logins = 0
  let listening = await open(0)
  const { port } = listening.server.address() as AddressInfo

  function open(at: number): Promise<SMTPServer> {
    const server = new SMTPServer({
      disabledCommands: tls ? [] : ['STARTTLS'],
      allowInsecureAuth: true,
      disableReverseLookup: true,
      closeTimeout: 100,
      onAuth({ username, password }, _session, done) {
        logins++
        const isRight = username === LOGIN.user && password === LOGIN.password
        done(isRight ? null : new Error('wrong password'), { user: username })
      },
      onRcptTo({ address }, _session, done) {
        const reply = replies.get(address)?.shift() ?? 250
        done(reply === 250 ? null : Object.assign(new Error('refused'), { responseCode: reply }))
      },
      onData(stream, session, done) {
        const [recipient] = session.envelope.rcptTo
        new Response(stream)
          .bytes()
          .then((bytes) => PostalMime.parse(bytes))
          .then((mail) => received.push(readMail(mail, recipient?.address ?? '')))
          .then(
            () => done(),
            (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
          )
      },
    })
    // Aborted connections are intended by some tests.
    server.on('error', () => {})
    return new Promise((resolve) => server.listen(at, '127.0.0.1', () => resolve(server)))
  }

  const close = () => new Promise<void>((resolve) => listening.close(() => resolve()))

  return {
    port,
    config: { ...NO_MAIL_SERVER, port, login: LOGIN },
    logins: () => logins,
    received,
    answerWith: (address, codes) => replies.set(address, [...codes]),
    goAway: close,

    async comeBack() {
      listening = await open(port)
    },

    take(address) {
      const mails = received.filter((mail) => mail.to === address && !taken.has(mail))
      for (const mail of mails) taken.add(mail)
      if (mails.length > 1) throw new Error(`${mails.length} mails came: ${mails.map((it) => it.subject)}`)
      return mails[0] ?? null
    },

    [Symbol.asyncDispose]: close,
  }
}

const INVISIBLE = '\u200B'

function readMail(mail: Email, to: string): ReceivedMail {
  const [text, html] = [mail.text ?? '', mail.html ?? '']
  const [address = 'http://none/'] = /https?:\/\/\S+/.exec(text) ?? []
  return {
    to,
    from: mail.from?.address ?? '',
    subject: mail.subject ?? '',
    text: text.replaceAll(INVISIBLE, ''),
    html: html.replaceAll(INVISIBLE, ''),
    written: text + html,
    messageId: mail.messageId ?? '',
    headers: new Map(mail.headers.map(({ key, value }) => [key, value])),
    path: new URL(address).pathname,
  }
}
