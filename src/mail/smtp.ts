import type { SendMailOptions } from 'nodemailer'
import type { MailConfig } from '../config.ts'
import { SECOND } from '../domain/clock.ts'
import type { Language } from '../domain/language.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import { html, plainText } from './bodies.ts'
import { type Mail, MailRefused, MailServerAway, type Postman } from './postman.ts'
import type { Words } from './wording.ts'
import { de } from './words-de.ts'
import { en } from './words-en.ts'

const words: Readonly<Record<Language, Words>> = { en, de }

const MAY_CONNECT = 10 * SECOND
const MAY_BE_SILENT = 20 * SECOND

/** Hands mails to an SMTP server, each over a connection of its own. */
export function createSmtpPostman(config: MailConfig, publicUrl: string): Postman {
  let handOver: Promise<HandOver> | null = null

  return {
    async send(mail, signal) {
      handOver ??= loadHandOver(config)
      const send = await handOver
      try {
        await send({ ...messageOf(mail, publicUrl), from: config.from, signal })
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}

/** Hands over one message without a link, to see that the settings are right. Throws as `Postman.send`. */
export async function sendTestMail(
  config: MailConfig,
  publicUrl: string | null,
  to: MailAddress,
  signal: AbortSignal,
): Promise<void> {
  const send = await loadHandOver(config)
  const from = publicUrl === null ? 'Holdfast' : `Holdfast at ${new URL(publicUrl).host}`
  await send({
    from: config.from,
    to: { name: '', address: to },
    subject: 'A test of Holdfast',
    text: `${from} can send mail.\n\nSomebody who runs it has asked for this message. There is nothing to do.\n`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    signal,
  })
}

type HandOver = (message: SendMailOptions) => Promise<unknown>

/** Loaded when the first mail is sent. */
async function loadHandOver({ host, port, secure, login }: MailConfig): Promise<HandOver> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host,
    port,
    secure,
    // Nobody on the way gets the password by saying that the server knows no TLS.
    requireTLS: !secure && login !== null && !isThisMachine(host),
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: MAY_CONNECT,
    greetingTimeout: MAY_CONNECT,
    socketTimeout: MAY_BE_SILENT,
    dnsTimeout: MAY_CONNECT,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return (message) => transport.sendMail(message)
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function messageOf({ messageId, to, language, letter, writtenAt }: Mail, publicUrl: string) {
  const wording = words[language](letter, {
    host: new URL(publicUrl).host,
    address: (path) => publicUrl + path,
  })
  return {
    messageId,
    to: { name: '', address: to },
    subject: wording.subject,
    date: new Date(writtenAt),
    text: plainText(wording),
    html: html(wording, language),
    headers: {
      // RFC 3834: nobody's absence is to be told to a server.
      'Auto-Submitted': 'auto-generated',
      'Content-Language': language,
      ...(wording.end === undefined
        ? {}
        : {
            // RFC 8058: mail programs offer it as a button.
            'List-Unsubscribe': `<${wording.end.address}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
    },
  }
}

/** What the server says of one mail is told from what keeps it from taking any. */
function failureOf(error: unknown): Error {
  if (!(error instanceof Error)) return new MailServerAway(String(error))
  const command = 'command' in error ? error.command : null
  const reply = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : null
  const isOfMail = 'code' in error && (error.code === 'EMESSAGE' || error.code === 'EENVELOPE')
  // A sender that is not taken is none with any mail; and 421 is what a server says that goes away.
  if (!isOfMail || command === 'MAIL FROM' || reply === 421) {
    return new MailServerAway(error.message, { cause: error })
  }
  return new MailRefused(reply === null || reply >= 500, reply, { cause: error })
}
