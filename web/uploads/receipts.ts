/** Of a guest's upload, link or transfer: permits deleting it. */
export interface KeptReceipt {
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly link: string
  readonly receipt: string
  /** Of a transfer: how many it holds. */
  readonly files?: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Latest first, shared by all tabs. */
export interface ReceiptStore {
  list(): readonly KeptReceipt[]
  find(link: string): KeptReceipt | null
  add(receipt: KeptReceipt): void
  rename(link: string, name: string): void
  remove(...links: readonly string[]): void
}

const KEY = 'holdfast-receipts'
/** The latest are kept: some 300 KB of the 5 MB that a site may store. */
const MOST = 1000

/** Without storage, in memory. `link`: the upload link whose receipts they are. */
export function openReceiptStore(storage: Storage | null, link: string | null = null): ReceiptStore {
  const key = link === null ? KEY : `${KEY}-${link}`
  let unkept: readonly KeptReceipt[] = []
  /** Cached: a list of uploads asks for the receipt of each. */
  let read: { readonly text: string; readonly receipts: readonly KeptReceipt[] | null } | null = null

  function list(): readonly KeptReceipt[] {
    try {
      const text = storage?.getItem(key) ?? 'null'
      if (text !== read?.text) {
        const parsed: unknown = JSON.parse(text)
        read = { text, receipts: Array.isArray(parsed) ? parsed.filter(isReceipt) : null }
      }
      return read.receipts ?? unkept
    } catch {
      return unkept
    }
  }

  function save(receipts: readonly KeptReceipt[]): void {
    unkept = receipts
    try {
      storage?.setItem(key, JSON.stringify(receipts))
    } catch {
      // Storage failed: they end with the page.
    }
  }

  const without = (...links: readonly string[]) => list().filter(({ link }) => !links.includes(link))
  return {
    list,
    find: (link) => list().find((each) => each.link === link) ?? null,
    add: (receipt) => save([receipt, ...without(receipt.link)].slice(0, MOST)),
    rename: (link, name) => save(list().map((each) => (each.link === link ? { ...each, name } : each))),
    remove: (...links) => save(without(...links)),
  }
}

function isReceipt(value: unknown): value is KeptReceipt {
  if (typeof value !== 'object' || value === null) return false
  const { name, size, link, receipt, at, files }: Partial<Record<string, unknown>> = { ...value }
  return (
    typeof name === 'string' &&
    typeof size === 'number' &&
    typeof link === 'string' &&
    typeof receipt === 'string' &&
    typeof at === 'number' &&
    (files === undefined || typeof files === 'number')
  )
}
