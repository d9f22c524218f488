import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface ReceivedFilesLog {
  has(file: string): boolean
  /** Call once the file has its name and is durable. */
  add(file: string): Promise<void>
}

/** `folder`: the user's state. `into`: the absolute local folder. */
export async function openReceivedFiles(
  folder: string,
  { link, into }: { readonly link: string; readonly into: string },
): Promise<ReceivedFilesLog> {
  const name = new Bun.CryptoHasher('sha256').update(JSON.stringify([link, into])).digest('hex')
  const path = join(folder, 'holdfast', 'received', name)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // A truncated last line names no file: that file is recognized by its content.
  const files = new Set((await readFile(path, 'utf8').catch(() => '')).split('\n'))
  return {
    has: (file) => files.has(file),
    async add(file) {
      files.add(file)
      await appendFile(path, `\n${file}\n`, { mode: 0o600, flush: true })
    },
  }
}
