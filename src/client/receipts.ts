import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { ClientError } from './failure.ts'
import { syncFolder } from './local-file.ts'

const keptReceipt = z.object({
  server: z.string(),
  receipt: z.string(),
  url: z.string(),
  name: z.string(),
  /** Bytes. */
  size: z.number(),
  uploaded_at: z.number(),
})
export type KeptReceipt = z.infer<typeof keptReceipt>

/**
 * They permit deleting the files, so only the user can read them. One file each: concurrent commands lose
 * none.
 */
export interface KeptReceipts {
  /** Latest first. */
  list(): Promise<KeptReceipt[]>
  keep(receipt: KeptReceipt): Promise<void>
  forget(receipt: Pick<KeptReceipt, 'server' | 'receipt'>): Promise<void>
}

/** `folder`: the user's state, such as `~/.local/state`. */
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

export function receiptAddress({ server, receipt }: Pick<KeptReceipt, 'server' | 'receipt'>): string {
  return `${server}/r/${receipt}`
}

export type ReceiptName =
  /** Without a server, the command's. */
  | { readonly kind: 'receipt'; readonly server: string | null; readonly receipt: string }
  | { readonly kind: 'file'; readonly url: string }

/** Throws ClientError for anything but a receipt, its address, or a file's link. */
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
