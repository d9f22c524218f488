/** What a transfer's sender says of it, and who may open it. */
export interface TransferTerms {
  readonly password: PasswordTerm
  /** ISO 8601; null: no end of its own. */
  readonly endsAt: string | null
  /** Over after one download. */
  readonly once: boolean
  /** Empty for none, as the next two. */
  readonly name: string
  readonly message: string
  /** What a guest calls themselves. */
  readonly sender: string
}

export interface PasswordTerm {
  readonly isSet: boolean
  /** Known in the tab that set it. */
  readonly text: string | null
}

export const NO_TERMS: TransferTerms = {
  password: { isSet: false, text: null },
  endsAt: null,
  once: false,
  name: '',
  message: '',
  sender: '',
}

/** Then the addresses of its files and of its folder are closed. */
export function isRestricted({ password, endsAt, once }: TransferTerms): boolean {
  return password.isSet || endsAt !== null || once
}

/** As the API takes them. */
export function fieldsOf(terms: Partial<TransferTerms>): Readonly<Record<string, unknown>> {
  const { password, endsAt, once, name, message, sender } = terms
  return {
    ...(password === undefined ? {} : { password: password.isSet ? password.text : null }),
    ...(endsAt === undefined ? {} : { ends_at: endsAt }),
    ...(once === undefined ? {} : { max_downloads: once ? 1 : null }),
    ...(name === undefined ? {} : { name: name === '' ? null : name }),
    ...(message === undefined ? {} : { message: message === '' ? null : message }),
    ...(sender === undefined ? {} : { sender: sender === '' ? null : sender }),
  }
}

/** Without letters and digits that look alike. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const GROUPS = 3
const GROUP = 4

/** 60 bits, in groups that can be read out. */
export function makePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(GROUPS * GROUP))
  // 32 characters divide 256 evenly.
  const letters = [...bytes].map((byte) => ALPHABET.charAt(byte % ALPHABET.length))
  return Array.from({ length: GROUPS }, (_, at) => letters.slice(at * GROUP, (at + 1) * GROUP).join('')).join(
    '-',
  )
}
