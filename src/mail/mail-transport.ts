import type { Language } from '../domain/account.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { MailContent } from '../domain/mail-content.ts'

export interface Mail {
  /** With angle brackets; equal for retries. */
  readonly messageId: string
  readonly to: MailAddress
  readonly language: Language
  readonly content: MailContent
  readonly writtenAt: number
}

export interface MailTransport {
  /**
   * Resolves once the mail is accepted. Throws MailRefused when this mail is rejected, and MailServerUnavailable when
   * the server accepts none at the moment or the signal aborted it.
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

/** `forGood`: a retry cannot succeed. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'

  constructor(
    readonly forGood: boolean,
    /** The server's reply code, such as 550; null when the mail was rejected before it was sent. */
    readonly reply: number | null,
    options?: ErrorOptions,
  ) {
    super(`a mail was refused with ${reply}`, options)
  }
}

/** The server is unreachable, does not answer, or rejects the login. */
export class MailServerUnavailable extends Error {
  override readonly name = 'MailServerUnavailable'
}
