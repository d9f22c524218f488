/** A small change of the product that some test has to notice. */
export interface Change {
  /** From the repository's root. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The test files that are run with the change, on SQLite. */
  readonly tests: readonly string[]
  /** Only tests whose names match, as `bun test -t` reads it. */
  readonly named?: string
  /** Why no test notices it. */
  readonly explained?: string
}

/** What is found, what takes its place, and what differs from the other changes of the file. */
type Edit = readonly [
  find: string,
  replace: string,
  own?: Partial<Pick<Change, 'tests' | 'named' | 'explained'>>,
]

/** Changes of one file that the same tests notice. */
export function changesIn(
  file: string,
  { tests, named }: Pick<Change, 'tests' | 'named'>,
  edits: readonly Edit[],
): Change[] {
  return edits.map(([find, replace, own]) => ({
    file,
    find,
    replace,
    tests,
    // Names are those of the tests that they stand with.
    ...(named === undefined || own?.tests !== undefined ? {} : { named }),
    ...own,
  }))
}

/** Of a test file that starts a server, the one test that notices. */
export function one(file: string, named: string): Pick<Change, 'tests'> & { readonly named: string } {
  return { tests: [file], named }
}

/** The text with the change in it. Throws an Error where the place of the change is not there, or not the only one. */
export function changed(text: string, { file, find, replace }: Change): string {
  const at = text.indexOf(find)
  if (at === -1) throw new Error(`${file} no longer has: ${find}`)
  if (text.indexOf(find, at + 1) !== -1) throw new Error(`${file} has more than once: ${find}`)
  return text.slice(0, at) + replace + text.slice(at + find.length)
}

/** Where the change is and what it does, on one line. */
export function titleOf({ file, find, replace }: Change): string {
  const short = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
  return `${file}: ${short(find)} → ${short(replace) || '(nothing)'}`
}
