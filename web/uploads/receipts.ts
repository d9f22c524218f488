/** What this browser was given when it uploaded a file as a guest: whoever has it may delete the file. */
export interface KeptReceipt {
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly link: string
  readonly receipt: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The receipts of this browser, the latest first. All of its tabs have the same. */
export interface ReceiptStore {
  list(): readonly KeptReceipt[]
  find(link: string): KeptReceipt | null
  add(receipt: KeptReceipt): void
  rename(link: string, name: string): void
  /** The files are gone, or nobody wants to be reminded of them. */
  remove(...links: readonly string[]): void
}

const KEY = 'holdfast-receipts'
/** The latest so many are kept: some 300 KB of the 5 MB that a site may have. */
const MOST = 1000

/** Without a place to keep them they last as long as the page. `link`: the upload link whose receipts they are. */
export function openReceiptStore(storage: Storage | null, link: string | null = null): ReceiptStore {
  const key = link === null ? KEY : `${KEY}-${link}`
  let unkept: readonly KeptReceipt[] = []
  /** As last read: a list of uploads asks for the receipt of each. */
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
      // They are gone with the page.
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
  const { name, size, link, receipt, at }: Partial<Record<string, unknown>> = { ...value }
  return (
    typeof name === 'string' &&
    typeof size === 'number' &&
    typeof link === 'string' &&
    typeof receipt === 'string' &&
    typeof at === 'number'
  )
}
