/**
 * Frequent queries, built and compiled once: that costs several times their execution by SQLite. PostgreSQL prepares
 * them once a connection. `build` must use each argument once, in order, and no other parameters.
 */
import { type Compilable, type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import { Batcher } from './batcher.ts'
import { isPostgres, type Queryable, type Reader, resultOf, type StatementResult } from './database.ts'
import { nameStatement } from './named-statements.ts'

/** Lists: PostgreSQL only. */
type Value = string | number | null | readonly (string | number)[]

type Build<From extends Queryable, Args extends readonly Value[], Row> = (
  from: From,
  ...args: Args
) => Compilable<Row>

/** In a transaction sees its changes, on a database committed rows. */
export function prepared<Args extends readonly Value[], Row, From extends Queryable = Queryable>(
  build: Build<From, Args, Row>,
): (from: From, ...args: Args) => Promise<Row[]> {
  return reading(compiledOnce(build))
}

/** For queries whose best plan depends on the arguments. */
export function replanned<Args extends readonly Value[], Row, From extends Queryable = Queryable>(
  build: Build<From, Args, Row>,
): (from: From, ...args: Args) => Promise<Row[]> {
  return reading(compiledOnce(build, 'each time'))
}

function reading<Args extends readonly Value[], Row, From extends Queryable>(
  compiled: (from: From, args: Args) => CompiledQuery<Row>,
): (from: From, ...args: Args) => Promise<Row[]> {
  return async (from, ...args) => from.read.rows(compiled(from, args))
}

export function preparedChange<Args extends readonly Value[], Row, From extends Queryable = Queryable>(
  build: Build<From, Args, Row>,
): (from: From, ...args: Args) => Promise<StatementResult<Row>> {
  const compiled = compiledOnce(build)
  return async (from, ...args) => execute(from, compiled(from, args))
}

async function execute<Row>(from: Queryable, query: CompiledQuery<Row>): Promise<StatementResult<Row>> {
  return 'send' in from ? from.send(query) : resultOf(await from.executeQuery(query))
}

/**
 * For lists of rows. `build` must use each value of each row once, in order, and no other parameters; all rows have the
 * columns of the first one, in any order. Lists are cut into lengths of powers of two: each length is prepared once a
 * connection. Returns nothing for no rows.
 */
export function preparedRows<Row extends Readonly<Record<string, Value>>, Returned>(
  build: (from: Queryable, rows: readonly Row[]) => Compilable<Returned>,
): (from: Queryable, rows: readonly Row[]) => Promise<Returned[]> {
  let columns: readonly string[] | null = null
  const queries = new Map<string, CompiledQuery<Returned>>()

  async function run(from: Queryable, rows: readonly Row[]): Promise<Returned[]> {
    columns ??= Object.keys(rows[0] ?? {})
    const parameters: Value[] = []
    for (const row of rows) {
      for (const column of columns) {
        const value = row[column]
        if (value === undefined) throw new Error(`a row has no ${column}`)
        parameters.push(value)
      }
    }
    const dialect = isPostgres(from)
    const name = `${dialect} ${rows.length}`
    let query = queries.get(name)
    if (query === undefined) {
      query = compile(build(from, rows), parameters)
      if (dialect) nameStatement(query.sql)
      queries.set(name, query)
    }
    return (await execute<Returned>(from, { ...query, parameters })).rows
  }

  return async (from, rows) => {
    if (rows.length === 1) return run(from, rows)
    const sent: Promise<Returned[]>[] = []
    for (let at = 0; at < rows.length; ) {
      const length = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(rows.length - at)))
      sent.push(run(from, rows.slice(at, at + length)))
      at += length
    }
    for (const end of await Promise.allSettled(sent)) if (end.status === 'rejected') throw end.reason
    return (await Promise.all(sent)).flat()
  }
}

const MOST_ROWS = 16

function compiledOnce<From extends Queryable, Args extends readonly Value[], Row>(
  build: Build<From, Args, Row>,
  planned: 'once' | 'each time' = 'once',
): (from: From, args: Args) => CompiledQuery<Row> {
  /** Per dialect: a process may have both open. */
  const queries = new Map<boolean, CompiledQuery<Row>>()
  return (from, args) => {
    const dialect = isPostgres(from)
    let compiled = queries.get(dialect)
    if (compiled === undefined) {
      compiled = compile(build(from, ...args), args)
      if (dialect && planned === 'once') nameStatement(compiled.sql)
      queries.set(dialect, compiled)
    }
    return { ...compiled, parameters: args }
  }
}

function compile<Row>(query: Compilable<Row>, args: readonly Value[]): CompiledQuery<Row> {
  const compiled = query.compile()
  const { parameters } = compiled
  if (parameters.length !== args.length || parameters.some((value, index) => value !== args[index])) {
    throw new Error('the parameters of a prepared query differ from its arguments')
  }
  return compiled
}

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
