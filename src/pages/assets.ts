import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { acceptedEncoding, type Encoding } from '../server/answers/encoding.ts'

export interface Assets {
  answer(name: string, request: Request): Response | null
}

const SUFFIXES = { br: '.br', gzip: '.gz', identity: '' } as const satisfies Record<Encoding, string>

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

/** For workers, which only exchange messages with their page. Other assets ignore it. */
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"

export async function openAssets(folder: string): Promise<Assets> {
  const names = new Set(await readdir(folder))
  return {
    answer(name, request) {
      const type = typeOf(name)
      if (type === null || !names.has(name)) return null
      const accepted = acceptedEncoding(request.headers.get('accept-encoding') ?? '')
      const encoding = names.has(name + SUFFIXES[accepted]) ? accepted : 'identity'
      const headers = new Headers({
        'Content-Type': type,
        // Names contain a hash of the content.
        'Cache-Control': 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        'Content-Security-Policy': WORKER_POLICY,
      })
      if (encoding !== 'identity') headers.set('Content-Encoding', encoding)
      const file = Bun.file(join(folder, name + SUFFIXES[encoding]))
      headers.set('Content-Length', String(file.size))
      return new Response(file, { headers })
    },
  }
}

function typeOf(name: string): string | null {
  return TYPES[/\.(\w+)$/.exec(name)?.[1] ?? ''] ?? null
}
