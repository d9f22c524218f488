import type { PreviewKind } from '../../web/file/data.ts'
import { extensionOf } from '../domain/file-name.ts'
import { iconKindOf, textKindOf } from '../domain/icon-kind.ts'
import { isInlineSafe } from '../domain/safe-types.ts'

const ZIP_TYPES: ReadonlySet<string> = new Set([
  'application/java-archive',
  'application/vnd.android.package-archive',
  'application/vnd.comicbook+zip',
  'application/x-xpinstall',
  'application/x-zip-compressed',
  'application/zip',
])
const ZIP_EXTENSIONS: ReadonlySet<string> = new Set(['apk', 'cbz', 'ipa', 'jar', 'whl', 'xpi', 'zip'])

/** Bytes. A larger SVG is shown as source: rendering it may block the browser. */
const MAX_DRAWING = 2 * 1024 ** 2

interface ShownFile {
  readonly name: string
  readonly type: string
  readonly size: number
}

export function previewKindOf({ name, type, size }: ShownFile): PreviewKind | null {
  const extension = extensionOf(name)
  const kind = kindOf(name, type, extension)
  // An empty text is shown as empty; other empty files have no preview.
  if (size === 0) return kind === 'text' || kind === 'code' ? 'text' : null
  return kind === 'image' && type === 'image/svg+xml' && size > MAX_DRAWING ? 'code' : kind
}

function kindOf(name: string, type: string, extension: string): PreviewKind | null {
  const [family] = type.split('/')
  if (isInlineSafe(type) && (family === 'image' || family === 'video' || family === 'audio')) return family
  // In <img> a browser runs no scripts of an SVG and loads nothing for it.
  if (type === 'image/svg+xml') return 'image'
  if (type === 'application/pdf') return 'pdf'
  if (type === 'text/markdown') return 'markdown'
  if (type === 'text/csv' || type === 'text/tab-separated-values') return 'table'
  if (ZIP_TYPES.has(type) || ZIP_EXTENSIONS.has(extension)) return 'archive'
  const icon = iconKindOf(type, extension)
  // For plain text and unknown types the name is more specific.
  const named = type === 'text/plain' || icon === 'other' ? textKindOf(name) : null
  if (named !== null) return named
  return icon === 'text' || icon === 'code' ? icon : null
}
