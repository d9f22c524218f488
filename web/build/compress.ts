import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const brotliOf = promisify(brotliCompress)
const gzipOf = promisify(gzip)

/** What is as small as it gets, or nearly so, and rarely asked for. */
const LEFT_OUT = /\.(bcmap|pfb|ttf|wasm)$|LICENSE/

/**
 * Puts `<name>.gz` and `<name>.br` beside the files of the folder: taken from the folder `earlier` where they are there
 * already, because a name tells the content. Returns how many bytes the gzipped ones have.
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

/** What an earlier build has made of that content, or null. Another build may be taking it away. */
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
