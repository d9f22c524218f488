import { extensionOf } from './file-name.ts'

/**
 * Extensions of source code and of what programs read, whether or not a list of media types has them. Left out are those that
 * other formats use as often.
 */
export const CODE_EXTENSIONS: ReadonlySet<string> = new Set(
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
export const TEXT_EXTENSIONS: ReadonlySet<string> = new Set(
  'txt md log srt vtt nfo tex rst adoc bib po asc pem crt eml lock'.split(' '),
)

/** Well-known file names without a telling extension. */
const TEXT_NAMES: ReadonlySet<string> = new Set(
  'authors changelog contributing copying license notice readme todo go.sum'.split(' '),
)
const CODE_NAMES: ReadonlySet<string> = new Set(
  [
    'dockerfile gemfile jenkinsfile justfile makefile procfile rakefile vagrantfile go.mod',
    '.bashrc .dockerignore .editorconfig .env .gitattributes .gitignore .htaccess .npmrc .profile .zshrc',
  ].flatMap((line) => line.split(' ')),
)

/** Whether the file is text or source code by its name; null where that says nothing. */
export function textKindOf(name: string): 'text' | 'code' | null {
  const whole = name.toLowerCase()
  const extension = extensionOf(name)
  if (CODE_NAMES.has(whole) || CODE_EXTENSIONS.has(extension)) return 'code'
  return TEXT_NAMES.has(whole) || TEXT_EXTENSIONS.has(extension) ? 'text' : null
}
