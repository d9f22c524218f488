import type { Entry, Key } from '../entry.ts'

/** The next entry that stays, else the one before; null where none of the gone ones has the focus. */
export function nextFocus(
  at: (row: number) => Entry | null,
  focus: number,
  entries: readonly Entry[],
): Key | null {
  const going = new Set(entries.map(({ key }) => key))
  const goes = (entry: Entry | null) => entry !== null && going.has(entry.key)
  if (!goes(at(focus))) return null
  for (const step of [1, -1]) {
    let row = focus
    while (goes(at(row))) row += step
    const entry = at(row)
    if (entry !== null) return entry.key
  }
  return null
}
