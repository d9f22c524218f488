import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Files that came by a link and were downloaded into a folder, so that another run skips them. */
export interface ReceivedFilesLog {
  has(file: string): boolean
  /** Called once the file has its name and is safe from a power cut. */
  add(file: string): Promise<void>
}

/** `folder`: where programs keep the state of the user. `into`: the absolute local folder. */
export async function openReceivedFiles(
  folder: string,
  { link, into }: { readonly link: string; readonly into: string },
): Promise<ReceivedFilesLog> {
  const name = new Bun.CryptoHasher('sha256').update(JSON.stringify([link, into])).digest('hex')
  const path = join(folder, 'holdfast', 'received', name)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // A last line that was cut off names nothing: its file is recognized by its content.
  const files = new Set((await readFile(path, 'utf8').catch(() => '')).split('\n'))
  return {
    has: (file) => files.has(file),
    async add(file) {
      files.add(file)
      await appendFile(path, `\n${file}\n`, { mode: 0o600, flush: true })
    },
  }
}
