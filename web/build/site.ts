import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describeSources } from '../../src/pages/built-site.ts'
import type { Manifest } from '../manifest.ts'
import { isTooHeavy, weigh, weightTable } from './budgets.ts'
import { bundleRenderer, bundleScripts, bundleStyle, bundleWorkers, copyFiles, ROOT } from './bundles.ts'
import { compressAll } from './compress.ts'
import { copyPdfData } from './pdf-data.ts'
import { copyStyleFiles } from './style-files.ts'

const DIST = join(ROOT, 'web/dist')
const MANIFEST = join(DIST, 'manifest.json')
/** Name prefix of the folders of unfinished builds. */
const WORK = '.building-'
const LONGEST_BUILD = 10 * 60_000

/**
 * Rebuilds `web/dist`. Returns false, and leaves the last build unchanged, when a page exceeds its budget.
 */
export async function buildSite(): Promise<boolean> {
  // Bun's metafile has paths relative to the working directory.
  process.chdir(ROOT)
  await mkdir(DIST, { recursive: true })
  // Concurrent builds use separate folders. Equal sources give equal files.
  const work = await mkdtemp(join(DIST, WORK))
  try {
    const assets = join(work, 'assets')
    const server = join(work, 'server')
    const manifest = await bundleAll(assets, server)
    const sizes = await compressAll(assets, join(DIST, 'assets'))
    const weights = weigh(manifest, (address) => sizes.get(basename(address)) ?? Number.NaN)
    console.error(weightTable(weights))
    if (weights.some(isTooHeavy)) {
      console.error('error: a page loads more than its budget allows; see web/build/budgets.ts')
      return false
    }
    for (const folder of ['assets', 'server']) await moveInto(join(work, folder), join(DIST, folder))
    await Bun.write(join(work, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    await rename(join(work, 'manifest.json'), MANIFEST)
    await removeOthers(manifest, [...sizes.keys()])
    return true
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The stylesheet of each page. */
async function bundleStyles(assets: string) {
  const [start, file, folder, receipt, reference, signIn, files, settings, admin] = await Promise.all([
    bundleStyle(assets, 'start'),
    bundleStyle(assets, 'file'),
    bundleStyle(assets, 'folder'),
    bundleStyle(assets, 'receipt'),
    bundleStyle(assets, 'reference'),
    bundleStyle(assets, 'sign-in'),
    bundleStyle(assets, 'files'),
    bundleStyle(assets, 'settings'),
    bundleStyle(assets, 'admin'),
  ])
  return { start, file, folder, receipt, reference, 'sign-in': signIn, files, settings, admin }
}

async function bundleAll(assets: string, server: string): Promise<Manifest> {
  const [scripts, workers, shared, viewer, styles, renderer, files, pdfData, styleFiles] = await Promise.all([
    bundleScripts(assets),
    bundleWorkers(assets),
    bundleStyle(assets, 'shared'),
    bundleStyle(assets, 'viewer'),
    bundleStyles(assets),
    bundleRenderer(server),
    copyFiles(assets),
    copyPdfData(assets),
    copyStyleFiles(assets),
  ])
  const bundles = [scripts, workers, shared, viewer, ...Object.values(styles), renderer, files, styleFiles]
  const builder = ['web/build.ts', ...new Bun.Glob('web/build/*.ts').scanSync(ROOT)]
  const { pages } = scripts.made
  return {
    sources: await describeSources(ROOT, [
      ...bundles.flatMap(({ sources }) => sources),
      ...builder,
      'package-lock.json',
    ]),
    renderer: `server/${renderer.made}`,
    assets: {
      style: shared.made,
      script: scripts.made.shared,
      pages: {
        start: { ...pages.start, style: styles.start.made },
        file: { ...pages.file, style: styles.file.made },
        folder: { ...pages.folder, style: styles.folder.made },
        receipt: { ...pages.receipt, style: styles.receipt.made },
        reference: { ...pages.reference, style: styles.reference.made },
        'sign-in': { ...pages['sign-in'], style: styles['sign-in'].made },
        files: { ...pages.files, style: styles.files.made },
        settings: { ...pages.settings, style: styles.settings.made },
        admin: { ...pages.admin, style: styles.admin.made },
      },
      workers: workers.made,
      viewerStyle: viewer.made,
      files: files.made,
      pdfData,
      typeface: styleFiles.typeface,
    },
  }
}

async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name))
}

/** Deletes the outputs of earlier builds, including those that were killed. */
async function removeOthers(manifest: Manifest, names: readonly string[]): Promise<void> {
  const kept = new Set([
    ...names.flatMap((name) => [name, `${name}.gz`, `${name}.br`]),
    basename(manifest.renderer),
  ])
  for (const folder of ['assets', 'server']) {
    for (const name of await readdir(join(DIST, folder))) {
      if (!kept.has(name)) await rm(join(DIST, folder, name), { force: true })
    }
  }
  for (const name of await readdir(DIST)) {
    if (!name.startsWith(WORK)) continue
    // A concurrent build may have removed its own folder just now.
    const work = await stat(join(DIST, name)).catch(() => null)
    if (work !== null && Date.now() - work.mtimeMs > LONGEST_BUILD)
      await rm(join(DIST, name), { recursive: true, force: true })
  }
}
