import { createAdapterFactory } from '@better-auth/core/db/adapter'
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { Db } from './schema.ts'
import { hashToken } from './token-hash.ts'

/** The columns in which the hash of a secret stands for it: better-auth itself would keep the secret. */
const HASHED: Readonly<Record<string, string>> = {
  sessions: 'token_hash',
  verifications: 'identifier_hash',
}

/** What better-auth wants to write and no column keeps: where sessions come from, and when an account was changed. */
const LEFT_OUT = new Set(['ip_address', 'accounts.updated_at'])

type Row = Record<string, unknown>
/** better-auth names its tables and columns itself, out of the names it was given. */
type AnyTables = Record<string, Row>

interface Condition {
  readonly field: string
  readonly operator: string
  readonly connector: 'AND' | 'OR'
  readonly value: unknown
}

/**
 * Lets better-auth keep its rows in our tables: in both databases alike, with times as numbers and secrets as hashes.
 * What it finds by a secret gets that secret back.
 */
export function authAdapter(db: Db) {
  const tables = db as unknown as Kysely<AnyTables>
  return createAdapterFactory({
    config: {
      adapterId: 'holdfast',
      adapterName: 'Holdfast',
      supportsBooleans: false,
      supportsDates: true,
      supportsNumericIds: true,
      customTransformInput: ({ data, field, model }) => {
        if (LEFT_OUT.has(field) || LEFT_OUT.has(`${model}.${field}`)) return undefined
        return data instanceof Date ? data.getTime() : data
      },
      customTransformOutput: ({ data, fieldAttributes }) =>
        fieldAttributes.type === 'date' && typeof data === 'number' ? new Date(data) : data,
    },
    adapter: ({ getFieldName }) => ({
      async create({ model, data }) {
        const row = await tables
          .insertInto(model)
          .values(hashed(model, data))
          .returningAll()
          .executeTakeFirstOrThrow()
        return named({ ...row, ...secretOf(model, data) })
      },

      async findOne({ model, where }) {
        const row = await tables.selectFrom(model).selectAll().where(all(model, where)).executeTakeFirst()
        return row === undefined ? null : named({ ...row, ...soughtSecret(model, where) })
      },

      async findMany({ model, where = [], limit, offset = 0, sortBy }) {
        let rows = tables.selectFrom(model).selectAll().where(all(model, where)).limit(limit).offset(offset)
        // Unlike conditions, what is sorted by does not come under the column's name.
        if (sortBy !== undefined) {
          rows = rows.orderBy(getFieldName({ model, field: sortBy.field }), sortBy.direction)
        }
        return (await rows.execute()).map((row) => named({ ...row, ...soughtSecret(model, where) }))
      },

      async update({ model, where, update }) {
        const row = await tables
          .updateTable(model)
          .set(hashed(model, named(update)))
          .where(all(model, where))
          .returningAll()
          .executeTakeFirst()
        return row === undefined ? null : named({ ...row, ...soughtSecret(model, where) })
      },

      async updateMany({ model, where, update }) {
        const { numUpdatedRows } = await tables
          .updateTable(model)
          .set(hashed(model, update))
          .where(all(model, where))
          .executeTakeFirstOrThrow()
        return Number(numUpdatedRows)
      },

      async delete({ model, where }) {
        await tables.deleteFrom(model).where(all(model, where)).execute()
      },

      async deleteMany({ model, where }) {
        const { numDeletedRows } = await tables
          .deleteFrom(model)
          .where(all(model, where))
          .executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      },

      async consumeOne({ model, where }) {
        const first = tables.selectFrom(model).select('id').where(all(model, where)).limit(1)
        const row = await tables.deleteFrom(model).where('id', 'in', first).returningAll().executeTakeFirst()
        return row === undefined ? null : named({ ...row, ...soughtSecret(model, where) })
      },

      async incrementOne({ model, where, increment, set = {} }) {
        const added = Object.entries(increment).map(
          ([column, by]) => [column, sql`${sql.ref(column)} + ${by}`] as const,
        )
        const row = await tables
          .updateTable(model)
          .set({ ...hashed(model, set), ...Object.fromEntries(added) })
          .where(all(model, where))
          .returningAll()
          .executeTakeFirst()
        return row === undefined ? null : named(row)
      },

      async count({ model, where = [] }) {
        const row = await tables
          .selectFrom(model)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where(all(model, where))
          .executeTakeFirstOrThrow()
        return Number(row.count)
      },
    }),
  })
}

/** better-auth calls every row what it wants it to be, and checks nothing. */
function named<T>(row: unknown): T {
  return row as T
}

function hashed(model: string, row: Row): Row {
  const column = HASHED[model]
  const secret = column === undefined ? undefined : row[column]
  return column === undefined || typeof secret !== 'string' ? row : { ...row, [column]: hashToken(secret) }
}

function secretOf(model: string, row: Row): Row {
  const column = HASHED[model]
  return column === undefined ? {} : { [column]: row[column] }
}

/** The secret itself, where rows are looked for by it. */
function soughtSecret(model: string, where: readonly Condition[]): Row {
  const column = HASHED[model]
  const found = where.find(({ field, operator }) => field === column && operator === 'eq')
  return column === undefined || found === undefined ? {} : { [column]: found.value }
}

function all(model: string, where: readonly Condition[]) {
  return (row: ExpressionBuilder<AnyTables, string>): Expression<SqlBool> =>
    row.and(where.map((condition) => one(row, model, condition)))
}

function one(
  row: ExpressionBuilder<AnyTables, string>,
  model: string,
  { field, operator, connector, value }: Condition,
): Expression<SqlBool> {
  if (connector !== 'AND')
    throw new Error('better-auth asks for one condition or another, which is not foreseen')
  const secret = field === HASHED[model]
  const given = secret ? hashedValue(value) : value
  switch (operator) {
    case 'eq':
      return given === null ? row(field, 'is', null) : row(field, '=', given)
    case 'ne':
      return given === null ? row(field, 'is not', null) : row(field, '<>', given)
    case 'in':
      return row(field, 'in', given)
    case 'lt':
      return row(field, '<', given)
    case 'lte':
      return row(field, '<=', given)
    case 'gt':
      return row(field, '>', given)
    case 'gte':
      return row(field, '>=', given)
    default:
      throw new Error(`better-auth asks by ${operator}, which is not foreseen`)
  }
}

function hashedValue(value: unknown): unknown {
  if (typeof value === 'string') return hashToken(value)
  return Array.isArray(value) ? value.map(hashedValue) : value
}
