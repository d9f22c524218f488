import { backoff } from '../../../src/client/policy/upload-policy.ts'
import { RequestFailure } from '../../uploads/answers.ts'
import { newId } from '../../uploads/new-id.ts'
import type { ReceiptStore } from '../../uploads/receipts.ts'
import type { TransferPlace } from '../../uploads/server.ts'
import type { UploadItem } from '../../uploads/upload-item.ts'
import {
  type Amount,
  type KeptTransfer,
  type MadeTransfer,
  openTransferStore,
  type TransferStore,
} from './kept-transfer.ts'
import { fieldsOf, makePassword, NO_TERMS, type TransferTerms } from './terms.ts'
import { changeTransfer, endTransfer, makeTransfer } from './transfer-api.ts'

export interface TransferState {
  /** Null until the server has made it. */
  readonly made: MadeTransfer | null
  readonly terms: TransferTerms
  /** Of the terms: `waiting` retries by itself; `refused` is for the user to change. */
  readonly saving: 'saved' | 'saving' | 'waiting' | 'refused'
  readonly isCopied: boolean
}

export const NO_TRANSFER: TransferState = { made: null, terms: NO_TERMS, saving: 'saved', isCopied: false }

/** Milliseconds in which changes are sent together. */
const TOGETHER = 400

/**
 * The transfer that the page sends. It is made by the first upload into it, announces what is listed, and has the
 * terms that were set before, meanwhile and afterwards.
 */
export class CurrentTransfer {
  readonly #receipts: ReceiptStore
  readonly #listeners = new Set<() => void>()
  #store: TransferStore | null = null
  #key = newId()
  #state: TransferState = NO_TRANSFER
  #making: Promise<MadeTransfer> | null = null
  /** What the request that makes it says. */
  #first: { readonly announced: Amount; readonly terms: TransferTerms } | null = null
  /** Safe files that are not listed any more. */
  #unlisted: Amount = NONE
  #listed: { readonly all: Amount; readonly safe: Amount; readonly name: string } = {
    all: NONE,
    safe: NONE,
    name: '',
  }
  #announced: Amount = NONE
  /** To be sent. */
  #changes: Readonly<Record<string, unknown>> = {}
  #timer: ReturnType<typeof setTimeout> | null = null
  #isSending = false
  /** Whether it is of an earlier page, whose uploads are not listed yet. */
  #isKept = false
  /** Terms that the server has. */
  #accepted: TransferTerms = NO_TERMS
  #failures = 0

  constructor(receipts: ReceiptStore) {
    this.#receipts = receipts
  }

  snapshot = (): TransferState => this.#state

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Called before the uploads of an earlier page are listed. */
  open(window: string): void {
    this.#store = openTransferStore(window)
    const kept = this.#store.read()
    if (kept === null) return
    const { made, safe } = kept
    const { password } = kept.terms
    // Set before it was made, and lost with its tab: it must not open without one.
    const isLost = made === null && password.isSet && password.text === null
    const terms = isLost ? { ...kept.terms, password: { isSet: true, text: makePassword() } } : kept.terms
    this.#isKept = true
    if (made !== null && !kept.isSaved) this.#changes = fieldsOf(withKnownPassword(terms))
    this.#unlisted = safe
    this.#accepted = terms
    this.#set({ made, terms })
  }

  /** Called once they are: without any, the kept one is over. */
  opened(items: readonly UploadItem[]): void {
    if (!this.#isKept) return
    this.#isKept = false
    if (items.length === 0) {
      this.startOver()
      return
    }
    const { safe } = amountsOf(items)
    this.#unlisted = {
      files: Math.max(0, this.#unlisted.files - safe.files),
      bytes: Math.max(0, this.#unlisted.bytes - safe.bytes),
    }
    this.#announced = plus(this.#unlisted, amountsOf(items).all)
    this.observe(items)
    if (Object.keys(this.#changes).length > 0) this.#sendSoon()
  }

  /** The next upload goes into another one. */
  startOver(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#key = newId()
    this.#making = null
    this.#first = null
    this.#unlisted = NONE
    this.#announced = NONE
    this.#listed = { all: NONE, safe: NONE, name: '' }
    this.#changes = {}
    this.#accepted = NO_TERMS
    this.#set(NO_TRANSFER)
    this.#store?.write(null)
  }

  /** Of the uploads: called whenever they change. */
  observe(items: readonly UploadItem[]): void {
    const before = this.#listed
    this.#listed = { ...amountsOf(items), name: nameOf(items) }
    if (items.length === 0 && before.all.files > 0 && this.#unlisted.files === 0) {
      // All of it was given up. Else it would go by itself, an hour later.
      void this.end().catch(() => this.startOver())
      return
    }
    if (
      items.length > 0 &&
      this.#state.made !== null &&
      items.every(({ state }) => state.kind === 'deleted')
    ) {
      void this.end().catch(() => {})
      return
    }
    if (!isSame(before.safe, this.#listed.safe)) this.#keep()
    if (this.#state.made !== null && !isSame(this.#toAnnounce(), this.#announced)) this.#sendSoon()
  }

  /** Makes it if need be. Throws RequestFailure. */
  async place(): Promise<TransferPlace> {
    const { receipt, folder } = this.#state.made ?? (await this.#make())
    return receipt === null
      ? { headers: {}, folder }
      : { headers: { 'Holdfast-Transfer': receipt }, folder: null }
  }

  change(terms: Partial<TransferTerms>): void {
    const all = { ...this.#state.terms, ...terms }
    // Until it is made, the request that makes it has them.
    if (this.#state.made === null && this.#first === null) {
      this.#set({ terms: all })
      this.#keep()
      return
    }
    this.#changes = { ...this.#changes, ...fieldsOf(terms) }
    this.#failures = 0
    this.#set({ terms: all, saving: 'saving' })
    this.#keep()
    this.#sendSoon()
  }

  /** Deletes a guest's, and takes back an account's link. Throws RequestFailure. */
  async end(): Promise<void> {
    const made = this.#state.made ?? (await this.#making?.catch(() => null)) ?? null
    if (made !== null) await endTransfer(made)
    if (made !== null) this.#receipts.remove(made.link)
    this.startOver()
  }

  #make(): Promise<MadeTransfer> {
    const key = this.#key
    this.#keep()
    this.#making ??= this.#ask(key).finally(() => {
      if (this.#key === key) this.#making = null
    })
    return this.#making
  }

  async #ask(key: string): Promise<MadeTransfer> {
    // A key stands for one body: what changes until it is answered is sent afterwards.
    this.#first ??= { announced: this.#toAnnounce(), terms: this.#state.terms }
    const { announced, terms } = this.#first
    const set = Object.entries(fieldsOf(terms)).filter(([, value]) => value !== null)
    const made = await makeTransfer(key, { ...announced, ...Object.fromEntries(set) })
    if (this.#key !== key) return made
    this.#announced = announced
    this.#accepted = terms
    this.#set({ made })
    this.#remember()
    this.#keep()
    if (!isSame(this.#toAnnounce(), announced) || Object.keys(this.#changes).length > 0) this.#sendSoon()
    void copied(made.link).then((isCopied) => {
      if (this.#key === key) this.#set({ isCopied })
    })
    return made
  }

  #toAnnounce(): Amount {
    return plus(this.#unlisted, this.#listed.all)
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      void this.#send()
    }, TOGETHER)
  }

  async #send(): Promise<void> {
    const { made } = this.#state
    const key = this.#key
    if (made === null || this.#isSending) return
    const announced = this.#toAnnounce()
    const changes = this.#changes
    const { terms } = this.#state
    // What was cancelled may be back.
    if (isSame(announced, this.#announced) && Object.keys(changes).length === 0) return
    this.#changes = {}
    this.#isSending = true
    try {
      await changeTransfer(made, isSame(announced, this.#announced) ? changes : { ...changes, ...announced })
      if (this.#key !== key) return
      this.#announced = announced
      this.#accepted = terms
      this.#failures = 0
      this.#remember()
      this.#set({ saving: 'saved' })
      this.#keep()
    } catch (error) {
      if (this.#key !== key) return
      const status = error instanceof RequestFailure ? (error.answer?.status ?? null) : null
      const isRefused = status !== null && status < 500 && status !== 429
      if (isRefused) {
        this.#announced = announced
        this.#changes = {}
        this.#set({ saving: 'refused', terms: this.#accepted })
        this.#keep()
        return
      }
      this.#changes = { ...changes, ...this.#changes }
      this.#set({ saving: Object.keys(this.#changes).length > 0 ? 'waiting' : this.#state.saving })
      setTimeout(() => this.#sendSoon(), backoff(this.#failures, Math.random()))
      this.#failures += 1
    } finally {
      this.#isSending = false
      const isBehind = Object.keys(this.#changes).length > 0 || !isSame(this.#toAnnounce(), this.#announced)
      if (this.#key === key && this.#state.saving === 'saved' && isBehind) this.#sendSoon()
    }
  }

  /** In the list of earlier uploads. */
  #remember(): void {
    const { made, terms } = this.#state
    if (made === null || made.receipt === null) return
    const { files, bytes } = this.#toAnnounce()
    const name = terms.name === '' ? this.#listed.name : terms.name
    const at = this.#receipts.find(made.link)?.at ?? Date.now()
    this.#receipts.add({ name, size: bytes, files, link: made.link, receipt: made.receipt, at })
  }

  #keep(): void {
    const { made, terms, saving } = this.#state
    const isSaved = saving === 'saved' && Object.keys(this.#changes).length === 0
    const kept: KeptTransfer = { isSaved, made, terms, safe: plus(this.#unlisted, this.#listed.safe) }
    this.#store?.write(kept)
  }

  #set(change: Partial<TransferState>): void {
    this.#state = { ...this.#state, ...change }
    for (const changed of this.#listeners) changed()
  }
}

/** One that another tab has set stays as it is. */
function withKnownPassword({ password, ...others }: TransferTerms): Partial<TransferTerms> {
  return password.isSet && password.text === null ? others : { ...others, password }
}

const NONE: Amount = { files: 0, bytes: 0 }

function plus(one: Amount, other: Amount): Amount {
  return { files: one.files + other.files, bytes: one.bytes + other.bytes }
}

function isSame(one: Amount, other: Amount): boolean {
  return one.files === other.files && one.bytes === other.bytes
}

/** What is still to come counts, also what has failed: it is missing until it is given up. */
function amountsOf(items: readonly UploadItem[]): { readonly all: Amount; readonly safe: Amount } {
  let [all, safe] = [NONE, NONE]
  for (const { size, state } of items) {
    if (state.kind === 'cancelled') continue
    const one = { files: 1, bytes: size }
    all = plus(all, one)
    if (state.kind === 'done' || state.kind === 'deleted') safe = plus(safe, one)
  }
  return { all, safe }
}

/** Of the folder that all of it is in, or else of its first file. */
function nameOf([first, ...others]: readonly UploadItem[]): string {
  if (first === undefined) return ''
  const folderOf = ({ path }: UploadItem) => path?.split('/', 1)[0] ?? null
  const folder = folderOf(first)
  return folder !== null && others.every((each) => folderOf(each) === folder) ? folder : first.name
}

/** Only where the browser does so without asking. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
