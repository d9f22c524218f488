import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE = join(import.meta.dir, 'results.md')

/**
 * Writes one section of bench/results.md: replaces the section with the same first-level heading and keeps
 * the others. The section begins with that heading.
 */
export function writeResults(part: string): void {
  const [heading] = part.split('\n', 1)
  const others = existsSync(PAGE) ? readFileSync(PAGE, 'utf8').split(/^(?=# )/m) : []
  const at = others.findIndex((other) => other.split('\n', 1)[0] === heading)
  const parts = at === -1 ? [...others, part] : others.with(at, part)
  writeFileSync(PAGE, `${parts.map((each) => each.trim()).join('\n\n')}\n`)
}
