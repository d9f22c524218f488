/** The receipts of what was uploaded from here as a guest, and where they lead. */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { ClientError } from './failure.ts'
import { syncFolder } from './sync-folder.ts'

const keptReceipt = z.object({
  server: z.string(),
  receipt: z.string(),
  /** The file's public link. */
  url: z.string(),
  name: z.string(),
  /** Bytes. */
  size: z.number(),
  /** Milliseconds since the epoch. */
  uploaded_at: z.number(),
})
export type KeptReceipt = z.infer<typeof keptReceipt>

/**
 * Whoever can read them can change and delete what was uploaded, so they are for their owner's eyes alone. Each has a file
 * of its own, so that commands that run at once lose none.
 */
export interface KeptReceipts {
  /** The latest first. */
  list(): Promise<KeptReceipt[]>
  keep(receipt: KeptReceipt): Promise<void>
  forget(receipt: Pick<KeptReceipt, 'server' | 'receipt'>): Promise<void>
}

/** `folder`: where programs keep the state of the user, such as `~/.local/state`. */
export function createKeptReceipts(folder: string): KeptReceipts {
  const receipts = join(folder, 'holdfast', 'receipts')
  const pathOf = ({ server, receipt }: Pick<KeptReceipt, 'server' | 'receipt'>) =>
    join(receipts, `${new Bun.CryptoHasher('sha256').update(`${server} ${receipt}`).digest('hex')}.json`)

  async function read(name: string): Promise<KeptReceipt[]> {
    const text = await readFile(join(receipts, name), 'utf8').catch(() => null)
    if (text === null) return []
    try {
      return [keptReceipt.parse(JSON.parse(text))]
    } catch {
      return []
    }
  }

  return {
    async list() {
      const names = (await readdir(receipts).catch(() => [])).filter((name) => name.endsWith('.json'))
      const found = await Promise.all(names.map(read))
      return found.flat().sort((a, b) => b.uploaded_at - a.uploaded_at)
    },

    async keep(receipt) {
      await mkdir(receipts, { recursive: true, mode: 0o700 })
      const path = pathOf(receipt)
      const fresh = `${path}.${process.pid}`
      const file = await open(fresh, 'w', 0o600)
      try {
        await file.writeFile(JSON.stringify(receipt))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(fresh, path)
      await syncFolder(receipts)
    },

    forget: (receipt) => rm(pathOf(receipt), { force: true }),
  }
}

/** The page of a receipt. */
export function receiptAddress({ server, receipt }: Pick<KeptReceipt, 'server' | 'receipt'>): string {
  return `${server}/r/${receipt}`
}

/** What people call a receipt by. */
export type ReceiptName =
  /** `server` null: that of the command. */
  | { readonly kind: 'receipt'; readonly server: string | null; readonly receipt: string }
  /** The link of a file whose receipt is kept here. */
  | { readonly kind: 'file'; readonly url: string }

/** Throws ClientError for what is neither a receipt, nor the address of one, nor the link of a file. */
export function parseReceiptName(text: string): ReceiptName {
  if (/^[\w-]+\.[\w-]{40,}$/.test(text)) return { kind: 'receipt', server: null, receipt: text }
  const url = URL.parse(text)
  const [, page, name = ''] = /^\/([dr])\/([\w.-]+)\/?$/.exec(url?.pathname ?? '') ?? []
  if (url !== null && /^https?:$/.test(url.protocol) && page !== undefined) {
    if (page === 'r') return { kind: 'receipt', server: url.origin, receipt: name }
    return { kind: 'file', url: `${url.origin}/d/${name}` }
  }
  throw new ClientError(
    `"${text}" is no receipt; it looks like https://files.example.org/r/…, or use the link of a file that was uploaded from here.`,
  )
}
