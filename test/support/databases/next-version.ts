/** A made-up version after this program's: to it, databases of today are older ones. */
import { migrations } from '../../../src/database/migrate.ts'

const statements = [
  "alter table files add column made_up text not null default ''",
  "update files set made_up = 'from ' || name",
  'create index files_made_up on files (made_up, id)',
]

/** What `made_up` is in a file of that name from before. */
export const madeUpOf = (name: string) => `from ${name}`

/** Lets the program have that version. What makes databases of today for other tests must not run meanwhile. */
export function withNextVersion(): Disposable {
  migrations.push({ sqlite: statements, postgres: statements })
  return { [Symbol.dispose]: () => void migrations.pop() }
}
