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
  /** The file is gone, or nobody wants to be reminded of it. */
  remove(link: string): void
}

const KEY = 'holdfast-receipts'
/** The latest so many are kept: some 60 KB of what a site may have. */
const MOST = 200

/** Without a place to keep them they last as long as the page. `link`: the upload link whose receipts they are. */
export function openReceiptStore(storage: Storage | null, link: string | null = null): ReceiptStore {
  const key = link === null ? KEY : `${KEY}-${link}`
  let unkept: readonly KeptReceipt[] = []

  function list(): readonly KeptReceipt[] {
    try {
      const parsed: unknown = JSON.parse(storage?.getItem(key) ?? 'null')
      return Array.isArray(parsed) ? parsed.filter(isReceipt) : unkept
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

  const without = (link: string) => list().filter((each) => each.link !== link)
  return {
    list,
    find: (link) => list().find((each) => each.link === link) ?? null,
    add: (receipt) => save([receipt, ...without(receipt.link)].slice(0, MOST)),
    rename: (link, name) => save(list().map((each) => (each.link === link ? { ...each, name } : each))),
    remove: (link) => save(without(link)),
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
