import { readdir, readFile } from 'node:fs/promises'

/** Image worker processes that are children of the given process. */
export async function imageWorkers(parent: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // A process may end after it was listed.
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '')
    const isOurs = new RegExp(`^PPid:\\s*${parent}$`, 'm').test(await read('status'))
    if (isOurs && (await read('cmdline')).includes('image-worker')) found.push(Number(name))
  }
  return found
}
