import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Manifest, PageAssets, Sources } from '../../web/manifest.ts'
import { ROOT } from '../program/entries.ts'
import { acceptedEncoding, type Encoding } from '../server/answers/answers.ts'
import type { Renderers } from './renderers.ts'

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
  const assets = await openAssets(join(DIST, 'assets'), manifest.assets.files)
  return { assets, pages: bundle.createRenderers(manifest.assets) }
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

interface Assets {
  /** Under a name with a hash of the content, kept for good by browsers. */
  answer(name: string, request: Request): Response | null
  /** Under the name it has in `web/static`. */
  answerPlain(name: string, request: Request): Response | null
}

const SUFFIXES = { br: '.br', gzip: '.gz', identity: '' } as const satisfies Record<Encoding, string>

const TYPES: Readonly<Record<string, string>> = {
  bcmap: 'application/octet-stream',
  ico: 'image/x-icon',
  jpg: 'image/jpeg',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  pfb: 'application/octet-stream',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
  woff2: 'font/woff2',
  webmanifest: 'application/manifest+json',
}

/** For workers, which only exchange messages with their page. Other assets ignore it. */
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"

async function openAssets(folder: string, files: PageAssets['files']): Promise<Assets> {
  const names = new Set(await readdir(folder))

  function answer(name: string, request: Request): Response | null {
    const type = typeOf(name)
    if (type === null || !names.has(name)) return null
    const accepted = acceptedEncoding(request.headers.get('accept-encoding') ?? '')
    const encoding = names.has(name + SUFFIXES[accepted]) ? accepted : 'identity'
    const headers = new Headers({
      'Content-Type': type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      'Content-Security-Policy': WORKER_POLICY,
    })
    if (encoding !== 'identity') headers.set('Content-Encoding', encoding)
    const file = Bun.file(join(folder, name + SUFFIXES[encoding]))
    headers.set('Content-Length', String(file.size))
    return new Response(file, { headers })
  }

  return {
    answer,
    answerPlain(name, request) {
      const address = Object.hasOwn(files, name) ? files[name] : undefined
      const response = address === undefined ? null : answer(basename(address), request)
      response?.headers.set('Cache-Control', 'public, max-age=86400')
      return response
    },
  }
}

function typeOf(name: string): string | null {
  return TYPES[/\.(\w+)$/.exec(name)?.[1] ?? ''] ?? null
}

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
