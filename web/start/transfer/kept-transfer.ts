import { storage } from '../../uploads/storage.ts'
import { NO_TERMS, type TransferTerms } from './terms.ts'

export interface MadeTransfer {
  readonly link: string
  readonly slug: string
  /** Identifier of its folder. */
  readonly folder: string
  /** Of a guest's; null: the account's. */
  readonly receipt: string | null
}

/** What outlives the page, for its window. */
export interface KeptTransfer {
  readonly made: MadeTransfer | null
  readonly terms: TransferTerms
  /** Whether the server has these terms. */
  readonly isSaved: boolean
  /** Files that are safe, and their bytes: the list of them may be lost with the browser. */
  readonly safe: Amount
}

export interface Amount {
  readonly files: number
  readonly bytes: number
}

export interface TransferStore {
  read(): KeptTransfer | null
  write(kept: KeptTransfer | null): void
}

/** The password stays in the tab that set it. */
export function openTransferStore(window: string): TransferStore {
  const key = `holdfast-transfer-${window}`
  return {
    read() {
      const kept = parsed(storage()?.getItem(key) ?? null)
      if (kept === null) return null
      const { isSet } = kept.terms.password
      const text = isSet ? session()?.getItem(key) : null
      return { ...kept, terms: { ...kept.terms, password: { isSet, text: text ?? null } } }
    },
    write(kept) {
      try {
        if (kept === null) {
          storage()?.removeItem(key)
          session()?.removeItem(key)
          return
        }
        const { password } = kept.terms
        const told = { ...kept, terms: { ...kept.terms, password: { isSet: password.isSet, text: null } } }
        storage()?.setItem(key, JSON.stringify(told))
        if (password.text === null) session()?.removeItem(key)
        else session()?.setItem(key, password.text)
      } catch {
        // Storage failed: the transfer ends with the page.
      }
    },
  }
}

function session(): Storage | null {
  try {
    return sessionStorage
  } catch {
    return null
  }
}

/** Null unless it is what `write` wrote: another version of the page may have kept something else. */
function parsed(text: string | null): KeptTransfer | null {
  try {
    const { made, terms, safe, isSaved } = fields(JSON.parse(text ?? 'null'))
    const { files, bytes } = fields(safe)
    if (typeof files !== 'number' || typeof bytes !== 'number') return null
    return {
      made: madeOf(made),
      terms: termsOf(fields(terms)),
      isSaved: isSaved === true,
      safe: { files, bytes },
    }
  } catch {
    return null
  }
}

function madeOf(value: unknown): MadeTransfer | null {
  const { link, slug, folder, receipt } = fields(value)
  if (typeof link !== 'string' || typeof slug !== 'string' || typeof folder !== 'string') return null
  return { link, slug, folder, receipt: typeof receipt === 'string' ? receipt : null }
}

function termsOf({ password, endsAt, once, name, message, sender }: Fields): TransferTerms {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    ...NO_TERMS,
    password: { isSet: fields(password).isSet === true, text: null },
    endsAt: typeof endsAt === 'string' ? endsAt : null,
    once: once === true,
    name: text(name),
    message: text(message),
    sender: text(sender),
  }
}

type Fields = Readonly<Partial<Record<string, unknown>>>

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
