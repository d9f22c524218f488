import { wholeNumber } from '../../../src/domain/ids.ts'

/**
 * What of a list is to be seen stands in the address of the page, after the question mark: it can be linked, and the
 * way back leads back. What others have written there counts as nothing.
 */
const query = new URLSearchParams(location.search)

/** Counted from 1. */
export function askedPage(name = 'page'): number {
  return wholeNumber(query.get(name)) || 1
}

export function askedText(name: string): string {
  return (query.get(name) ?? '').trim()
}

/** One of these, or the first. */
export function askedChoice<const T extends string>(name: string, choices: readonly [T, ...T[]]): T {
  return choices.find((choice) => choice === query.get(name)) ?? choices[0]
}

/** This page with another value there. What it lists begins anew, unless it is another page of it. */
export function withAsked(name: string, value: string | number, isPage = false): string {
  const changed = new URLSearchParams(query)
  if (!isPage) changed.delete('page')
  changed.set(name, String(value))
  return `?${changed}`
}
