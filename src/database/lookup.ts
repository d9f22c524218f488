import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely'
import { Batcher } from './batcher.ts'
import type { Queryable, Reader } from './database.ts'
import { prepared } from './prepared.ts'

/**
 * Finds the one row with a value of a unique column, by the database's or the transaction's reader. Where that gathers
 * look-ups, what many requests look up at once is found by one statement.
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
    build(db, sql<SqlBool>`${column} = any((select ${values})::${sql.raw(listOf(values))})`),
  )
  /** Those that are under way, which end with their reader. */
  const batchers = new WeakMap<Reader, Batcher<Value, Found<Row>>>()

  function batcherOf(db: Queryable): Batcher<Value, Found<Row>> {
    const present = batchers.get(db.read)
    if (present !== undefined) return present
    const made = new Batcher<Value, Found<Row>>(async (values) => {
      const wanted = [...new Set(values)]
      const [first] = wanted
      const rows =
        first !== undefined && wanted.length === 1 ? await one(db, first) : await several(db, wanted)
      const found = new Map(rows.map((row) => [valueIn(row), row]))
      return values.map((value) => ({ row: found.get(value) }))
    })
    batchers.set(db.read, made)
    return made
  }

  return async (db, value) =>
    db.read.gathersLookups ? (await batcherOf(db).ask(value)).row : (await one(db, value))[0]
}

/**
 * Type of the list. It is selected, so that the planner does not see how long it is: a plan for a list that is shorter than
 * it assumes looks cheaper than the one for any list, and every statement would be planned anew.
 */
function listOf(values: readonly (string | number)[]): string {
  return typeof values[0] === 'number' ? 'bigint[]' : 'text[]'
}

interface Found<Row> {
  readonly row: Row | undefined
}
