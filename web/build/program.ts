import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BUNDLE, BUNDLE_MANIFEST, type BundleManifest, sourceFile } from '../../src/program/bundle.ts'
import { ENTRIES } from '../../src/program/entries.ts'
import { commitOf } from '../../src/program/version.ts'
import { ROOT } from './bundles.ts'

/** Bundles the program into `dist`, from which `src/main.ts` runs it while the sources are the same. */
export async function bundleProgram(): Promise<void> {
  // Bun's metafile has paths relative to the working directory.
  process.chdir(ROOT)
  const work = join(ROOT, `.${BUNDLE}-${crypto.randomUUID()}`)
  try {
    const { metafile } = await Bun.build({
      entrypoints: ENTRIES.map((entry) => join(ROOT, 'src', `${entry}.ts`)),
      root: join(ROOT, 'src'),
      outdir: work,
      target: 'bun',
      splitting: true,
      define: { 'process.env.BUILD_COMMIT': JSON.stringify(commitOf(ROOT)) },
      metafile: true,
      sourcemap: 'linked',
      minify: { whitespace: true, syntax: true, identifiers: false },
      naming: { entry: '[dir]/[name].[ext]', chunk: '[name]-[hash].[ext]' },
      // Native code, which finds its library beside it; and a decoder that is loaded when it is needed.
      external: ['sharp', 'libheif-js'],
    })
    if (metafile === undefined) throw new Error('the build has no metafile')
    const own = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'))
    const paths = [...own, 'tsconfig.json', 'package-lock.json'].sort()
    const manifest: BundleManifest = { files: paths.map((path) => sourceFile(ROOT, path)) }
    await Bun.write(join(work, BUNDLE_MANIFEST), JSON.stringify(manifest))
    await replace(join(ROOT, BUNDLE), work)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Whoever starts between the two renames runs from the sources. */
async function replace(folder: string, by: string): Promise<void> {
  const old = `${by}-old`
  await rename(folder, old).catch(() => {})
  await rename(by, folder)
  await rm(old, { recursive: true, force: true })
}
