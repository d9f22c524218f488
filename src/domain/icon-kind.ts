import { CODE_EXTENSIONS, TEXT_EXTENSIONS } from './text-names.ts'

export type IconKind =
  | 'image'
  | 'video'
  | 'audio'
  | 'pdf'
  | 'text'
  | 'code'
  | 'archive'
  | 'spreadsheet'
  | 'presentation'
  | 'document'
  | 'font'
  | 'application'
  | 'other'

/** Patterns in order of precedence; text comes last because code and tables are text too. */
const byType: readonly (readonly [RegExp, IconKind])[] = [
  [/^image\//, 'image'],
  [/^video\//, 'video'],
  [/^audio\//, 'audio'],
  [/^font\/|^application\/(?:x-)?font-/, 'font'],
  [/^application\/pdf$/, 'pdf'],
  [/spreadsheet|ms-excel|apple\.numbers|^text\/(?:csv|tab-separated-values)$/, 'spreadsheet'],
  [/presentation|ms-powerpoint|apple\.keynote/, 'presentation'],
  [/msword|wordprocessing|opendocument\.text|apple\.pages|epub|ebook|\brtf$/, 'document'],
  [
    /android\.package|apple-diskimage|debian-package|redhat-package|iso9660|msdos-program|msdownload/,
    'application',
  ],
  [/\/(?:x-)?(?:zip|gzip|bzip2?|tar|7z|rar|zstd|xz|compress)|compressed$|\.rar$/, 'archive'],
  [
    /javascript|typescript|json|[/+]xml$|^text\/(?:html|css|jsx|less|stylus|coffeescript|wgsl|x-)|\/(?:node|vnd\.dart|x-perl|x-sh|sql|x-sql|toml|yaml|x-httpd-php)$/,
    'code',
  ],
  [/^text\//, 'text'],
]

const byExtension: readonly (readonly [IconKind, Iterable<string>])[] = [
  ['archive', 'zip rar 7z gz tgz bz2 xz zst tar lz4'.split(' ')],
  ['application', 'exe msi apk dmg deb rpm iso img jar appimage flatpak wasm'.split(' ')],
  ['code', CODE_EXTENSIONS],
  ['text', TEXT_EXTENSIONS],
  ['image', 'psd xcf heic raw cr2 nef dng'.split(' ')],
  ['video', 'mkv mov mp4 webm avi'.split(' ')],
  ['audio', 'flac opus mp3 wav m4a'.split(' ')],
  ['font', 'ttf otf woff woff2'.split(' ')],
]

const kinds: ReadonlyMap<string, IconKind> = new Map(
  byExtension.flatMap(([kind, extensions]) => [...extensions].map((extension) => [extension, kind] as const)),
)

/** Kind of a file by its MIME type or, where that is too general, by its extension (lower case, no dot). */
export function iconKindOf(type: string, extension: string): IconKind {
  const essence = (type.split(';', 1)[0] ?? '').trim().toLowerCase()
  return byType.find(([pattern]) => pattern.test(essence))?.[1] ?? kinds.get(extension) ?? 'other'
}
