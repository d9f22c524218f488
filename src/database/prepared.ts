import type { Compilable, CompiledQuery } from 'kysely'
import { isPostgres } from './differences.ts'
import type { Db } from './schema.ts'
import { directReadsOf } from './sqlite.ts'

/**
 * A query that runs with every request: built and compiled once, because that costs several times what SQLite
 * needs to answer it. `build` must use each argument once, in order, and have no other parameters.
 */
export function prepared<Args extends readonly (string | number)[], Row>(
  build: (db: Db, ...args: Args) => Compilable<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  /** One for each of the databases, because one process may have both open. */
  const texts = new Map<boolean, CompiledQuery<Row>>()
  return async (db, ...args) => {
    const dialect = isPostgres(db)
    let compiled = texts.get(dialect)
    if (compiled === undefined) {
      compiled = compileFor(build, db, args)
      texts.set(dialect, compiled)
    }
    const direct = directReadsOf(db)
    if (direct !== null) return direct.all(compiled.sql, args)
    const query: CompiledQuery<Row> = { ...compiled, parameters: args }
    return (await db.executeQuery(query)).rows
  }
}

function compileFor<Args extends readonly (string | number)[], Row>(
  build: (db: Db, ...args: Args) => Compilable<Row>,
  db: Db,
  args: Args,
): CompiledQuery<Row> {
  const compiled = build(db, ...args).compile()
  const { parameters } = compiled
  if (parameters.length !== args.length || parameters.some((value, index) => value !== args[index])) {
    throw new Error('a prepared query has other parameters than its arguments')
  }
  return compiled
}
