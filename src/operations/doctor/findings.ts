export interface Change {
  readonly where: string
  readonly line: string
}

/** A sentence with placeholders `{0}`, `{1}`, the key of its translation. */
interface Template {
  readonly template: string
  readonly values: readonly string[]
}

interface Sentence extends Template {
  readonly text: string
}

export interface Finding {
  readonly check: string
  /** `unknown`: the check cannot tell here. */
  readonly level: 'ok' | 'advice' | 'problem' | 'unknown'
  readonly what: string
  readonly why: string
  readonly templates: { readonly what: Template; readonly why: Template }
  readonly changes: readonly Change[]
}

const NOTHING = say``

/** Every sentence of a finding goes through this, so that a test finds untranslated ones. */
export function say(parts: TemplateStringsArray, ...values: readonly (string | number)[]): Sentence {
  const told = values.map(String)
  return {
    text: String.raw({ raw: parts }, ...told),
    template: String.raw({ raw: parts }, ...told.map((_, at) => `{${at}}`)),
    values: told,
  }
}

export function fine(check: string, what: Sentence): Finding {
  return finding('ok', check, what)
}

export function unknown(check: string, what: Sentence): Finding {
  return finding('unknown', check, what)
}

export function problem(
  check: string,
  what: Sentence,
  why: Sentence,
  changes: readonly Change[] = [],
): Finding {
  return finding('problem', check, what, why, changes)
}

export function advice(
  check: string,
  what: Sentence,
  why: Sentence,
  changes: readonly Change[] = [],
): Finding {
  return finding('advice', check, what, why, changes)
}

function finding(
  level: Finding['level'],
  check: string,
  what: Sentence,
  why: Sentence = NOTHING,
  changes: readonly Change[] = [],
): Finding {
  const templates = { what: templateOf(what), why: templateOf(why) }
  return { check, level, what: what.text, why: why.text, templates, changes }
}

function templateOf({ template, values }: Sentence): Template {
  return { template, values }
}

export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}
