/**
 * Queries that run with every request, or with every upload: built and compiled once, because that costs several times
 * what SQLite needs to answer them. Each `build` must use each argument once, in order, and have no other parameters.
 */
import type { Compilable, CompiledQuery } from 'kysely'
import { isPostgres } from './differences.ts'
import type { Db } from './schema.ts'
import { directReadsOf } from './sqlite.ts'

type Value = string | number | null

type Build<Args extends readonly Value[], Row> = (db: Db, ...args: Args) => Compilable<Row>

/** A query that only reads. */
export function prepared<Args extends readonly Value[], Row>(
  build: Build<Args, Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  const compiled = compiledOnce(build)
  return async (db, ...args) => {
    const query = compiled(db, args)
    const direct = directReadsOf(db)
    if (direct !== null) return direct.all(query.sql, args)
    return (await db.executeQuery(query)).rows
  }
}

/** A query that changes rows: how many it has changed, and what it returns of them. */
export function preparedChange<Args extends readonly Value[], Row>(
  build: Build<Args, Row>,
): (trx: Db, ...args: Args) => Promise<{ readonly rows: Row[]; readonly changed: number }> {
  const compiled = compiledOnce(build)
  return async (trx, ...args) => {
    // SQLite does not count the rows that it returns.
    const { rows, numAffectedRows } = await trx.executeQuery(compiled(trx, args))
    return { rows, changed: Number(numAffectedRows ?? rows.length) }
  }
}

function compiledOnce<Args extends readonly Value[], Row>(
  build: Build<Args, Row>,
): (db: Db, args: Args) => CompiledQuery<Row> {
  /** One for each of the databases, because one process may have both open. */
  const queries = new Map<boolean, CompiledQuery<Row>>()
  return (db, args) => {
    const dialect = isPostgres(db)
    let compiled = queries.get(dialect)
    if (compiled === undefined) {
      compiled = compileFor(build, db, args)
      queries.set(dialect, compiled)
    }
    return { ...compiled, parameters: args }
  }
}

function compileFor<Args extends readonly Value[], Row>(
  build: Build<Args, Row>,
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
