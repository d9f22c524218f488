import { basename, join, relative, resolve } from 'node:path'
import type { ScriptedPage, ScriptedPageAssets } from '../manifest.ts'
import { guides } from './guides.ts'
import { mantineStyles } from './mantine-styles.ts'
import { preactForReact } from './preact-for-react.ts'
import { styleFileAddresses } from './style-files.ts'

/** Root of the repository. */
export const ROOT = resolve(import.meta.dir, '../..')
const WEB = join(ROOT, 'web')
/** Path of the assets on the site. */
const ADDRESS = '/assets/'
/** Options common to all bundles. */
const COMMON = {
  root: ROOT,
  minify: true,
  metafile: true,
  define: { 'process.env.NODE_ENV': '"production"' },
} as const
const NAMING = { chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' }

export interface Bundle<Made> {
  readonly made: Made
  /** Paths in the repository, excluding those of packages. */
  readonly sources: readonly string[]
}

interface Scripts {
  readonly shared: string
  readonly pages: Readonly<Record<ScriptedPage, Omit<ScriptedPageAssets, 'style'>>>
}

const START = 'start/main.tsx'

/** Bundles the scripts of pages: `<page>/main.ts(x)`. */
export async function bundleScripts(folder: string): Promise<Bundle<Scripts>> {
  const entries = {
    shared: 'shared/main.ts',
    file: 'file/main.ts',
    folder: 'folder/main.ts',
    receipt: 'receipt/main.ts',
    reference: 'reference/main.ts',
    signIn: 'sign-in/main.ts',
    files: 'files/main.tsx',
    settings: 'settings/main.tsx',
    admin: 'admin/main.tsx',
  }
  const modules = await bundleModules(folder, Object.values(entries))
  const start = await bundleModules(folder, [START], { plugins: [preactForReact] })
  const page = (entry: string, { scriptOf, importsOf } = modules) => {
    const script = scriptOf(entry)
    return { script: ADDRESS + script, preloads: importsOf(script).map((name) => ADDRESS + name) }
  }
  return {
    made: {
      shared: ADDRESS + modules.scriptOf(entries.shared),
      pages: {
        start: page(START, start),
        file: page(entries.file),
        folder: page(entries.folder),
        receipt: page(entries.receipt),
        reference: page(entries.reference),
        'sign-in': page(entries.signIn),
        files: page(entries.files),
        settings: page(entries.settings),
        admin: page(entries.admin),
      },
    },
    sources: [...new Set([...modules.sources, ...start.sources])],
  }
}

/**
 * Bundles the workers of pages: every `<page>/<name>-worker.ts`. The `worker` condition selects package code
 * that needs no document.
 */
export async function bundleWorkers(folder: string): Promise<Bundle<Readonly<Record<string, string>>>> {
  const entries = [...new Bun.Glob('*/*-worker.ts').scanSync(WEB)].sort()
  const { scriptOf, sources } = await bundleModules(folder, entries, { conditions: ['worker'] })
  return {
    made: Object.fromEntries(
      entries.map((entry) => [entry.replace(/\.ts$/, ''), ADDRESS + scriptOf(entry)] as const),
    ),
    sources,
  }
}

/** Bundles modules of `web` for browsers, and returns the names of the outputs. */
async function bundleModules(
  folder: string,
  entries: readonly string[],
  special: Pick<Parameters<typeof Bun.build>[0], 'conditions' | 'plugins'> = {},
) {
  const { metafile } = await built({
    ...COMMON,
    ...special,
    root: WEB,
    entrypoints: entries.map((entry) => join(WEB, entry)),
    outdir: folder,
    target: 'browser',
    splitting: true,
    publicPath: ADDRESS,
    naming: { ...NAMING, entry: '[dir]-[name]-[hash].[ext]' },
  })
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]))
  return {
    sources: sourcesOf(metafile),
    scriptOf(entry: string): string {
      const wanted = join(WEB, entry)
      for (const [name, { entryPoint }] of outputs) {
        if (entryPoint !== undefined && fromMetafile(entryPoint) === wanted) return name
      }
      throw new Error(`the bundle holds nothing of ${entry}`)
    },
    /** Static imports of a module, transitively, which are preloaded with it. */
    importsOf(name: string): string[] {
      const found = new Set<string>()
      const follow = (from: string) => {
        for (const { path, kind } of outputs.get(from)?.imports ?? []) {
          const next = basename(path)
          if (kind !== 'import-statement' || found.has(next)) continue
          found.add(next)
          follow(next)
        }
      }
      follow(name)
      return [...found]
    },
  }
}

/** Bundles the stylesheet of a folder in `web`. */
export async function bundleStyle(
  folder: string,
  of: ScriptedPage | 'shared' | 'viewer',
): Promise<Bundle<string>> {
  const { metafile, outputs } = await built({
    ...COMMON,
    entrypoints: [join(WEB, of, 'style.css')],
    outdir: folder,
    publicPath: ADDRESS,
    naming: { ...NAMING, entry: `${of}-[hash].[ext]` },
    plugins: [mantineStyles, styleFileAddresses],
  })
  const [style] = outputs
  if (style === undefined) throw new Error(`there is no stylesheet of ${of}`)
  return { made: ADDRESS + basename(style.path), sources: sourcesOf(metafile) }
}

/**
 * Bundles the module that renders pages with its dependencies: Bun loads one small file faster than a
 * package's hundreds.
 */
export async function bundleRenderer(folder: string): Promise<Bundle<string>> {
  const { metafile, outputs } = await built({
    ...COMMON,
    entrypoints: [join(ROOT, 'src/pages/render.ts')],
    outdir: folder,
    target: 'bun',
    plugins: [guides],
    naming: { ...NAMING, entry: '[name]-[hash].[ext]' },
  })
  const [renderer] = outputs
  if (renderer === undefined) throw new Error('there is no renderer')
  return { made: basename(renderer.path), sources: sourcesOf(metafile) }
}

/** Copies static files under names with a hash of their content. */
export async function copyFiles(folder: string): Promise<Bundle<Readonly<Record<string, string>>>> {
  const names = [...new Bun.Glob('*').scanSync(join(WEB, 'static'))].sort()
  const made = await Promise.all(
    names.map(async (name) => {
      const bytes = await Bun.file(join(WEB, 'static', name)).bytes()
      const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)
      const named = name.replace(/(\.\w+)$/, `-${hash}$1`)
      await Bun.write(join(folder, named), bytes)
      return [name, ADDRESS + named] as const
    }),
  )
  return { made: Object.fromEntries(made), sources: names.map((name) => `web/static/${name}`) }
}

/** `Bun.build`, which must return a metafile. */
async function built(config: Parameters<typeof Bun.build>[0]) {
  const { outputs, metafile } = await Bun.build(config)
  if (metafile === undefined) throw new Error('Bun.build has made no metafile')
  return { outputs, metafile }
}

type Metafile = Awaited<ReturnType<typeof built>>['metafile']

function sourcesOf(metafile: Metafile): string[] {
  return Object.keys(metafile.inputs)
    .map((path) => relative(ROOT, fromMetafile(path)))
    .filter((path) => !path.includes('node_modules'))
}

/** Resolves a metafile's path, which is relative to `root`. */
function fromMetafile(path: string): string {
  return resolve(ROOT, path)
}
