import type { UncopyableBlob } from '../../contents/copying.ts'
import { printProblem } from '../output.ts'

export function printDamage(damaged: readonly UncopyableBlob[], what: string): void {
  for (const { key, reason, files } of damaged) {
    printProblem(`damaged: content ${key} ${reason}, and ${what}`)
    for (const { slug, name, username, isRemoved } of files) {
      printProblem(`  ${slug}  ${name}, of ${username}${isRemoved ? ', deleted or expired' : ''}`)
    }
  }
}

export function damageJson(damaged: readonly UncopyableBlob[]) {
  return damaged.flatMap(({ key, reason, files }) =>
    files.map(({ slug, name, username }) => ({ slug, name, owner: username, reason, key })),
  )
}
