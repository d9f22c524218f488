import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely'
import { Batcher } from './batcher.ts'
import type { Queryable, Reader } from './database.ts'
import { prepared } from './prepared.ts'

/** By a unique column. Where the reader gathers look-ups, one statement serves concurrent ones. */
export function lookup<Value extends string | number, Row>(parts: {
  readonly column: string
  build(db: Queryable, isWanted: RawBuilder<SqlBool>): Compilable<Row>
  valueIn(row: Row): Value
}): (db: Queryable, value: Value) => Promise<Row | undefined> {
  const { build, valueIn } = parts
  const column = sql.ref(parts.column)
  const one = prepared((db, value: Value) => build(db, sql<SqlBool>`${column} = ${value}`))
  const several = prepared((db, values: readonly Value[]) =>
    build(db, sql<SqlBool>`${column} = any((select ${values})::${sql.raw(listOf(values))})`),
  )
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
 * Selected as a whole, so that the planner does not see its length: a plan for a list shorter than assumed looks
 * cheaper than the generic one, and every statement would be planned anew.
 */
function listOf(values: readonly (string | number)[]): string {
  return typeof values[0] === 'number' ? 'bigint[]' : 'text[]'
}

interface Found<Row> {
  readonly row: Row | undefined
}
