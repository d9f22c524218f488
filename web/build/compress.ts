import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const brotliOf = promisify(brotliCompress)
const gzipOf = promisify(gzip)

/** Files that hardly compress further and are rarely requested. */
const LEFT_OUT = /\.(bcmap|ico|pfb|png|ttf|wasm|woff2)$|LICENSE/

/**
 * Writes `<name>.gz` and `<name>.br` beside the files of the folder; copies them from the folder `earlier` if
 * they exist there, since names contain a hash of the content. Returns the gzipped sizes.
 */
export async function compressAll(folder: string, earlier: string): Promise<ReadonlyMap<string, number>> {
  const names = await readdir(folder)
  const sizes = await Promise.all(
    names.map(async (name) => {
      const file = Bun.file(join(folder, name))
      if (LEFT_OUT.test(name)) return [name, file.size] as const
      const compressed = (await formsOf(earlier, name)) ?? (await compress(await file.bytes()))
      await Promise.all([
        Bun.write(join(folder, `${name}.gz`), compressed.gzip),
        Bun.write(join(folder, `${name}.br`), compressed.brotli),
      ])
      return [name, compressed.gzip.byteLength] as const
    }),
  )
  return new Map(sizes)
}

interface Compressed {
  readonly gzip: Uint8Array
  readonly brotli: Uint8Array
}

async function compress(bytes: Uint8Array): Promise<Compressed> {
  const [gzipped, brotli] = await Promise.all([gzipOf(bytes, { level: 9 }), brotliOf(bytes)])
  return { gzip: gzipped, brotli }
}

/** Compressed variants of an earlier build, or null. A concurrent build may be deleting them. */
async function formsOf(folder: string, name: string): Promise<Compressed | null> {
  try {
    const [gzipped, brotli] = await Promise.all([
      Bun.file(join(folder, `${name}.gz`)).bytes(),
      Bun.file(join(folder, `${name}.br`)).bytes(),
    ])
    return { gzip: gzipped, brotli }
  } catch {
    return null
  }
}
