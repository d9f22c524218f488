import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database, Queryable } from './database.ts'
import { isPostgres } from './differences.ts'
import { Gathering } from './gathering.ts'
import { prepared } from './prepared.ts'

/**
 * Finds the one row with a value of a unique column. What many requests look up at once in committed rows of PostgreSQL
 * is found by one statement.
 */
export function lookup<Value extends string | number, Row>(parts: {
  /** Column with its table. */
  readonly column: string
  /** The query, given the condition on the column. */
  build(db: Queryable, isWanted: RawBuilder<SqlBool>): Compilable<Row>
  /** The column's value in a row. */
  valueIn(row: Row): Value
}): (db: Queryable, value: Value) => Promise<Row | undefined> {
  const { build, valueIn } = parts
  const column = sql.ref(parts.column)
  const one = prepared((db, value: Value) => build(db, sql<SqlBool>`${column} = ${value}`))
  const several = prepared((db, values: readonly Value[]) =>
    build(db, sql<SqlBool>`${column} = any(${values})`),
  )
  const gatherings = new WeakMap<Queryable, Gathering<Value, Found<Row>>>()

  function gathered(db: Database): Gathering<Value, Found<Row>> {
    const present = gatherings.get(db)
    if (present !== undefined) return present
    const made = new Gathering<Value, Found<Row>>(async (values) => {
      const rows = await several(db, [...new Set(values)])
      const found = new Map(rows.map((row) => [valueIn(row), row]))
      return values.map((value) => ({ row: found.get(value) }))
    })
    gatherings.set(db, made)
    return made
  }

  return async (db, value) => {
    const isCommitted = 'readPool' in db
    if (isCommitted && isPostgres(db)) return (await gathered(db).ask(value)).row
    return (await one(db, value))[0]
  }
}

interface Found<Row> {
  readonly row: Row | undefined
}
