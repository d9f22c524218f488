import type { SendMailOptions } from 'nodemailer'
import type { MailConfig } from '../config.ts'
import type { Language } from '../domain/account.ts'
import { SECOND } from '../domain/clock.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import { type Mail, MailRefused, MailServerUnavailable, type MailTransport } from './mail-sending.job.ts'
import { mailTextDe } from './mail-text-de.ts'
import { type ListItem, type MailText, mailTextEn, type RenderMail } from './mail-text-en.ts'

const words: Readonly<Record<Language, RenderMail>> = { en: mailTextEn, de: mailTextDe }

const MAY_CONNECT = 10 * SECOND
const MAY_BE_SILENT = 20 * SECOND

/** `siteName`: the sender's name where the setting has an address alone. */
export function createSmtpTransport(
  config: MailConfig,
  publicUrl: string,
  siteName: () => string,
): MailTransport {
  let handOver: Promise<HandOver> | null = null

  return {
    async send(mail, signal) {
      handOver ??= loadHandOver(config)
      const send = await handOver
      try {
        await send({
          ...messageOf(mail, publicUrl),
          from: { ...config.from, name: config.from.name || siteName() },
          signal,
        })
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}

/** A test message without a link. Throws like `MailTransport.send`. */
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

/** Connects and logs in, and sends nothing. Throws when that fails. */
export async function tryMailServer(config: MailConfig): Promise<void> {
  await (await openTransport(config)).verify()
}

type HandOver = (message: SendMailOptions) => Promise<unknown>

async function loadHandOver(config: MailConfig): Promise<HandOver> {
  const transport = await openTransport(config)
  return (message) => transport.sendMail(message)
}

async function openTransport({ host, port, secure, login }: MailConfig) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure,
    // Requires STARTTLS for a login, so that a man in the middle cannot strip it and read the password.
    requireTLS: !secure && login !== null && !isThisMachine(host),
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: MAY_CONNECT,
    greetingTimeout: MAY_CONNECT,
    socketTimeout: MAY_BE_SILENT,
    dnsTimeout: MAY_CONNECT,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function messageOf({ messageId, to, language, content, writtenAt }: Mail, publicUrl: string) {
  const wording = words[language](content, {
    host: new URL(publicUrl).host,
    address: (path) => publicUrl + path,
  })
  return {
    messageId,
    to: { name: '', address: to },
    subject: wording.subject,
    date: new Date(writtenAt),
    text: plainTextBody(wording),
    html: html(wording, language),
    headers: {
      // RFC 3834: suppresses automatic replies.
      'Auto-Submitted': 'auto-generated',
      'Content-Language': language,
      ...(wording.end === undefined
        ? {}
        : {
            // RFC 8058: mail programs show it as a button.
            'List-Unsubscribe': `<${wording.end.address}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
    },
  }
}

/** Distinguishes errors of one mail from those that affect every mail. */
function failureOf(error: unknown): Error {
  if (!(error instanceof Error)) return new MailServerUnavailable(String(error))
  const command = 'command' in error ? error.command : null
  const reply = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : null
  const isOfMail = 'code' in error && (error.code === 'EMESSAGE' || error.code === 'EENVELOPE')
  // A rejected sender affects every mail; 421 announces a shutdown of the server.
  if (!isOfMail || command === 'MAIL FROM' || reply === 421) {
    return new MailServerUnavailable(error.message, { cause: error })
  }
  return new MailRefused(reply === null || reply >= 500, reply, { cause: error })
}

function plainTextBody({ paragraphs, list, link, rest, end }: MailText): string {
  const items = list === undefined ? [] : [...list.items.flatMap(plainItem), list.more ?? []].flat()
  const blocks = [
    ...paragraphs,
    ...(items.length === 0 ? [] : [items.join('\n')]),
    ...(link === undefined ? [] : [`${link.label}:\n${link.address}`]),
    ...rest,
    ...(end === undefined ? [] : [`${end.label}:\n${end.address}`]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function plainItem(item: ListItem): string[] {
  const lines = typeof item === 'string' ? [item] : [item.text, ...item.items.map((each) => `  ${each}`)]
  return lines.map((line) => `  ${unlinked(line)}`)
}

/** No styles, pictures or scripts: the mail program's own style applies. */
function html({ subject, paragraphs, list, link, rest, end }: MailText, language: Language): string {
  const paragraph = (text: string) => `<p>${escaped(text)}</p>`
  const leading = ({ label, address }: { label: string; address: string }) =>
    `<p><a href="${escaped(address)}">${escaped(label)}</a></p>`
  const blocks = [
    ...paragraphs.map(paragraph),
    ...(list === undefined ? [] : [listOf(list.items)]),
    ...(list === undefined || list.more === null ? [] : [paragraph(list.more)]),
    ...(link === undefined ? [] : [leading(link)]),
    ...rest.map(paragraph),
    ...(end === undefined ? [] : [leading(end)]),
  ]
  const head = `<meta charset="utf-8"><title>${escaped(subject)}</title>`
  return `<!doctype html><html lang="${language}"><head>${head}</head><body>${blocks.join('')}</body></html>`
}

function listOf(items: readonly ListItem[]): string {
  const shown = items.map((item) => {
    const { text, items: below } = typeof item === 'string' ? { text: item, items: [] } : item
    return `<li><bdi>${escaped(unlinked(text))}</bdi>${below.length === 0 ? '' : listOf(below)}</li>`
  })
  return `<ul>${shown.join('')}</ul>`
}

/** Zero-width spaces keep mail programs from linking names, senders and titles, which strangers choose. */
function unlinked(text: string): string {
  return text.replace(/:\/\/|[.@:](?=[\p{L}/])/gu, '$&\u200B')
}

function escaped(text: string): string {
  return Bun.escapeHTML(text)
}
