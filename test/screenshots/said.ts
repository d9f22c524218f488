/** Finds what pages say in whatever language they are. */
import { de } from '../../src/pages/texts/de.ts'
import { en } from '../../src/pages/texts/en.ts'

/** Texts in English, each with the German one; with placeholders. */
const pairs = pairsOf(en, de)
const PLACEHOLDER = /\{(\w+)\}/

/** Matches a part of what a page says in English, or the German text for it. Throws where no page says that. */
export function said(english: string | RegExp): RegExp {
  if (typeof english !== 'string') {
    const start = english.source.startsWith('^') ? '^' : ''
    const german = pairs
      .filter(([text]) => english.test(text))
      .map(([, text]) => start + patternOf(text, () => '.*'))
    return either(english, [english.source, ...german])
  }
  const whole = translated(english)
  if (whole.length > 0) return either(english, [escaped(english), ...whole])
  const around = pairs.filter(([text]) => text.includes(english))
  return either(english, [escaped(english), ...around.map(([, text]) => patternOf(text, () => '.*'))])
}

/** The same of all that an element says. */
export function saidAlone(english: string): RegExp {
  return either(english, [escaped(english), ...translated(english)], true)
}

/** Patterns of the German texts for an English one that is whole, with the values of its placeholders. */
function translated(english: string): string[] {
  const labelled = /^(.+?): (.+)$/.exec(english)
  const whole = pairs.flatMap(([text, german]) => {
    const pattern = new RegExp(`^${patternOf(text, (name) => `(?<${name}>.+)`)}$`)
    const found = pattern.exec(english)
    if (found === null) return []
    return [patternOf(german, (name) => valuePattern(found.groups?.[name] ?? ''))]
  })
  if (labelled === null) return whole
  const [, label = '', value = ''] = labelled
  return [...whole, `${valuePattern(label)}: ${valuePattern(value)}`]
}

/** A value may be a text of the page itself. */
function valuePattern(value: string): string {
  const german = pairs.filter(([text]) => text === value).map(([, text]) => escaped(text))
  return `(?:${[escaped(value), ...german].join('|')})`
}

function either(asked: string | RegExp, patterns: readonly string[], isAlone = false): RegExp {
  if (patterns.length === 1) throw new Error(`no page says "${asked}"`)
  const all = [...new Set(patterns)].join('|')
  return isAlone ? new RegExp(`^(?:${all})$`) : new RegExp(all, 'i')
}

function patternOf(text: string, placeholder: (name: string) => string): string {
  const seen = new Set<string>()
  return text
    .split(PLACEHOLDER)
    .map((piece, at) => {
      if (at % 2 === 0) return escaped(piece)
      if (seen.has(piece)) return '.+'
      seen.add(piece)
      return placeholder(piece)
    })
    .join('')
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

function pairsOf(english: unknown, german: unknown): readonly (readonly [string, string])[] {
  if (typeof english === 'string') return typeof german === 'string' ? [[english, german]] : []
  if (!isTexts(english) || !isTexts(german)) return []
  return Object.keys(english).flatMap((key) => pairsOf(english[key], german[key]))
}

function isTexts(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
