import { extensionOf } from './file-name.ts'

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

/** In order of precedence; text last, since code and tables are text. */
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

/** Source code and configuration, also unregistered; without extensions that other formats share. */
const CODE_EXTENSIONS: ReadonlySet<string> = new Set(
  [
    'c h cc cpp cxx hpp hxx hh cs m mm d go rs zig nim cr swift dart',
    'java kt kts groovy gradle scala sbt clj cljs cljc edn vb fs fsi fsx',
    'py pyi pyx rb rake gemspec erb php phtml pl pm lua tcl r jl awk',
    'ex exs erl hrl hs lhs elm ml mli lisp el rkt nix',
    'sh bash zsh fish ksh ps1 psm1 bat cmd vim',
    'js mjs cjs jsx ts mts cts tsx vue svelte astro coffee pug ejs hbs liquid twig jsp aspx cshtml',
    'sql graphql gql proto prisma asm s v sv vhdl f90 pas sol glsl hlsl wgsl vert frag gd',
    'json jsonc json5 jsonl ndjson yaml yml toml ini env cfg properties editorconfig hcl tf tfvars',
    'make mk cmake bazel bzl dockerfile diff patch reg csproj sln',
  ].flatMap((line) => line.split(' ')),
)
const TEXT_EXTENSIONS: ReadonlySet<string> = new Set(
  'txt md log srt vtt nfo tex rst adoc bib po asc pem crt eml lock'.split(' '),
)

const TEXT_NAMES: ReadonlySet<string> = new Set(
  'authors changelog contributing copying license notice readme todo go.sum'.split(' '),
)
const CODE_NAMES: ReadonlySet<string> = new Set(
  [
    'dockerfile gemfile jenkinsfile justfile makefile procfile rakefile vagrantfile go.mod',
    '.bashrc .dockerignore .editorconfig .env .gitattributes .gitignore .htaccess .npmrc .profile .zshrc',
  ].flatMap((line) => line.split(' ')),
)

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

/** By MIME type or, where that is too general, by extension (lower case, no dot). */
export function iconKindOf(type: string, extension: string): IconKind {
  const essence = (type.split(';', 1)[0] ?? '').trim().toLowerCase()
  return byType.find(([pattern]) => pattern.test(essence))?.[1] ?? kinds.get(extension) ?? 'other'
}

export function textKindOf(name: string): 'text' | 'code' | null {
  const whole = name.toLowerCase()
  const extension = extensionOf(name)
  if (CODE_NAMES.has(whole) || CODE_EXTENSIONS.has(extension)) return 'code'
  return TEXT_NAMES.has(whole) || TEXT_EXTENSIONS.has(extension) ? 'text' : null
}
