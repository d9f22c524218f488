/** Runs in a worker: colours source code, and answers with HTML. */
import highlighter from 'highlight.js/lib/common'
import dart from 'highlight.js/lib/languages/dart'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import elixir from 'highlight.js/lib/languages/elixir'
import haskell from 'highlight.js/lib/languages/haskell'
import latex from 'highlight.js/lib/languages/latex'
import nginx from 'highlight.js/lib/languages/nginx'
import powershell from 'highlight.js/lib/languages/powershell'
import properties from 'highlight.js/lib/languages/properties'
import scala from 'highlight.js/lib/languages/scala'

export interface CodeQuestion {
  readonly text: string
  /** A name or an alias of the highlighter's; what it does not know has no colours. */
  readonly language: string
}

const more = { dart, dockerfile, elixir, haskell, latex, nginx, powershell, properties, scala }
for (const [name, language] of Object.entries(more)) highlighter.registerLanguage(name, language)

const alike = {
  xml: ['astro', 'svelte', 'vue'],
  json: ['json5', 'jsonl', 'ndjson'],
  bash: ['fish', 'ksh', 'bashrc', 'profile', 'zshrc'],
  properties: ['cfg', 'editorconfig', 'env', 'npmrc'],
  python: ['pyi', 'pyx'],
  ruby: ['rake'],
  scala: ['sbt'],
  javascript: ['cjs'],
}
for (const [languageName, names] of Object.entries(alike))
  highlighter.registerAliases(names, { languageName })

addEventListener('message', ({ data }: MessageEvent<CodeQuestion>) => {
  const { text, language } = data
  const isKnown = highlighter.getLanguage(language) !== undefined
  postMessage(isKnown ? highlighter.highlight(text, { language, ignoreIllegals: true }).value : null)
})
