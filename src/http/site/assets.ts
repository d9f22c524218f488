import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { acceptedEncoding, type Encoding } from './encoding.ts'

/** The files of a build, by name. */
export interface Assets {
  /** Answers for the asset of that name, in the best encoding that the request accepts; null when there is none. */
  answer(name: string, request: Request): Response | null
}

/** Endings of the compressed forms, which the build puts beside most files. */
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' } as const satisfies Record<Encoding, string>

const TYPES: Readonly<Record<string, string>> = {
  bcmap: 'application/octet-stream',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  pfb: 'application/octet-stream',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
  webmanifest: 'application/manifest+json',
}

/**
 * What holds for a worker that one of the modules becomes: it talks with its page alone. Pages have a policy of their
 * own, and other assets no use for one.
 */
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"

export async function openAssets(folder: string): Promise<Assets> {
  const names = new Set(await readdir(folder))
  return {
    answer(name, request) {
      const type = typeOf(name)
      if (type === null || !names.has(name)) return null
      const accepted = acceptedEncoding(request.headers.get('accept-encoding') ?? '')
      const encoding = names.has(name + ENDINGS[accepted]) ? accepted : 'identity'
      const headers = new Headers({
        'Content-Type': type,
        // A name tells its content, so it may be kept for ever.
        'Cache-Control': 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        'Content-Security-Policy': WORKER_POLICY,
      })
      if (encoding !== 'identity') headers.set('Content-Encoding', encoding)
      return new Response(Bun.file(join(folder, name + ENDINGS[encoding])), { headers })
    },
  }
}

/** null for what is no asset, such as the compressed form of one. */
function typeOf(name: string): string | null {
  return TYPES[/\.(\w+)$/.exec(name)?.[1] ?? ''] ?? null
}
