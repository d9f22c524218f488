import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const brotliOf = promisify(brotliCompress)
const gzipOf = promisify(gzip)

/** What is as small as it gets, or nearly so, and rarely asked for. */
const LEFT_OUT = /\.(bcmap|pfb|ttf|wasm)$|LICENSE/

/** Puts `<name>.gz` and `<name>.br` beside the files of the folder. Returns how many bytes the gzipped ones have. */
export async function compressAll(folder: string): Promise<ReadonlyMap<string, number>> {
  const names = await readdir(folder)
  const sizes = await Promise.all(
    names.map(async (name) => {
      const bytes = await Bun.file(join(folder, name)).bytes()
      if (LEFT_OUT.test(name)) return [name, bytes.byteLength] as const
      const [gzipped, brotli] = await Promise.all([gzipOf(bytes, { level: 9 }), brotliOf(bytes)])
      await Promise.all([
        Bun.write(join(folder, `${name}.gz`), gzipped),
        Bun.write(join(folder, `${name}.br`), brotli),
      ])
      return [name, gzipped.byteLength] as const
    }),
  )
  return new Map(sizes)
}
