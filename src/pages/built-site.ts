import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest, PageAssets } from '../../web/manifest.ts'
import { ROOT } from '../program/entries.ts'
import { type Assets, openAssets } from './assets.ts'
import type { Renderers } from './renderers.ts'
import { isBuiltFrom } from './sources.ts'

export interface BuiltSite {
  readonly assets: Assets
  readonly pages: Renderers
}

/** The message says what to do. */
export class SiteNotBuilt extends Error {
  override readonly name = 'SiteNotBuilt'
}

interface RendererBundle {
  createRenderers(assets: PageAssets): Renderers
}

const BUILDER = join(ROOT, 'web/build.ts')
const DIST = join(ROOT, 'web/dist')
const MANIFEST = join(DIST, 'manifest.json')

let opened: Promise<BuiltSite> | null = null

/** Once per process; a clone with changed sources is rebuilt first. Throws SiteNotBuilt. */
export function openBuiltSite(): Promise<BuiltSite> {
  opened ??= open()
  return opened
}

async function open(): Promise<BuiltSite> {
  // An installed package has no sources of the site.
  const isClone = existsSync(BUILDER)
  if (isClone && !(await isBuiltFrom(ROOT, MANIFEST))) build()
  const file = Bun.file(MANIFEST)
  if (!(await file.exists())) throw new SiteNotBuilt(`${DIST} is missing; install holdfast again`)
  const manifest: Manifest = await file.json()
  const bundle: RendererBundle = await import(join(DIST, manifest.renderer))
  return { assets: await openAssets(join(DIST, 'assets')), pages: bundle.createRenderers(manifest.assets) }
}

function build(): void {
  // Synchronous: the server does not listen yet, and a child's output stream may never end (Bun 1.4.5).
  const { success, stderr } = Bun.spawnSync([process.execPath, BUILDER], {
    cwd: ROOT,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  if (success) return
  throw new SiteNotBuilt(
    `the pages of the site could not be built. It needs all packages ("npm ci"); then try "npm run build".\n${stderr.toString().trim()}`,
  )
}
