import type { Language } from '../domain/language.ts'
import type { Letter } from '../domain/letter.ts'
import type { MailAddress } from '../domain/mail-address.ts'

export interface Mail {
  /** With its angle brackets. The same when a mail is sent again. */
  readonly messageId: string
  readonly to: MailAddress
  readonly language: Language
  readonly letter: Letter
  readonly writtenAt: number
}

/** Hands mails to whoever delivers them. */
export interface Postman {
  /**
   * Returns once the mail is taken over. Throws MailRefused when this one is not taken, and MailServerAway when none is
   * taken at the moment, or the signal ended it.
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

/** This mail is not taken. `forGood`: another try would come to the same. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'

  constructor(
    readonly forGood: boolean,
    /** What the server has answered, such as 550; null for a mail that it was not even asked for. */
    readonly reply: number | null,
    options?: ErrorOptions,
  ) {
    super(`a mail was refused with ${reply}`, options)
  }
}

/** No mail can be handed over: the server is not there, does not answer, or does not let us in. */
export class MailServerAway extends Error {
  override readonly name = 'MailServerAway'
}
