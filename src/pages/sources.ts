import { join } from 'node:path'
import type { Manifest, Sources } from '../../web/manifest.ts'

export async function describeSources(root: string, paths: Iterable<string>): Promise<Sources> {
  const files = [...new Set(paths)].sort()
  return { files, hash: await hashOf(root, files) }
}

export async function isBuiltFrom(root: string, manifest: string): Promise<boolean> {
  const file = Bun.file(manifest)
  if (!(await file.exists())) return false
  const { sources }: Manifest = await file.json()
  const known = new Set(sources.files)
  if (!foundFiles(root).every((path) => known.has(path))) return false
  return (await hashOf(root, sources.files)) === sources.hash
}

/** Found by listing folders; all other inputs are imported. */
function foundFiles(root: string): string[] {
  return [...new Bun.Glob('web/{*/*-worker.ts,static/*}').scanSync(root)]
}

async function hashOf(root: string, files: readonly string[]): Promise<string> {
  const contents = await Promise.all(files.map((file) => contentOf(join(root, file))))
  const hash = new Bun.CryptoHasher('sha256')
  for (const [index, file] of files.entries()) hash.update(`${file}\0${contents[index]}\0`)
  return hash.digest('hex')
}

/** A deleted file counts as empty, which changes the hash. */
async function contentOf(path: string): Promise<string> {
  const file = Bun.file(path)
  return (await file.exists()) ? file.text() : ''
}
