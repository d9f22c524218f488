/** Rows from either database to either, more of them than go in one statement. */
// Only in test:all: copies every table; migrations and relocation-bytes are quick.
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { copyRows, countRows, holdsNothing } from '../../../../src/contents/row-copy.rows.ts'
import type { Database } from '../../../../src/database/database.ts'
import { lastId, setLastId } from '../../../../src/database/differences.ts'
import { inTransaction } from '../../../../src/database/transactions.ts'
import { type ContractDatabase, databases } from '../../../support/databases/databases.ts'

/** Rows of each table: two statements full and one row more. */
const MANY = 1001
/** Enough where the number of statements does not matter. */
const FEW = 11
const COPIED = [
  'accounts',
  'api_keys',
  'folders',
  'blobs',
  'thumbnails',
  'files',
  'blob_garbage',
  'rate_windows',
  'request_days',
  'reports',
  'bin',
  'changes',
  'days',
  'refused_contents',
  'audit_log',
  'mails',
  'file_warnings',
] as const

const both = databases('copying of rows')
const ways = both.flatMap(([from, openFrom]) => both.map(([to, openTo]) => ({ from, to, openFrom, openTo })))

interface Pair extends AsyncDisposable {
  readonly from: Database
  readonly to: Database
}

async function pairOf(
  openFrom: () => Promise<ContractDatabase>,
  openTo: () => Promise<ContractDatabase>,
  count: number,
) {
  const from = await openFrom()
  const to = await openTo()
  await fill(from.db, count)
  return {
    from: from.db,
    to: to.db,
    async [Symbol.asyncDispose]() {
      await from[Symbol.asyncDispose]()
      await to[Symbol.asyncDispose]()
    },
  } satisfies Pair
}

/** Every table, with names of any script and folders that are older than their parents. */
async function fill(db: Database, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  const hex = (at: number) => at.toString(16).padStart(32, '0')
  await insert(
    db,
    'accounts',
    ['id', 'username', 'name_sort', 'created_at', 'storage_reserved'],
    [[7, 'ann', 'ann', 1, 99]],
  )
  await insert(
    db,
    'api_keys',
    ['id', 'account_id', 'name', 'prefix', 'hash', 'created_at'],
    numbers.map((at) => [at, 7, `key ${at}`, 'hf_', hex(at), at]),
  )
  await insert(
    db,
    'folders',
    ['id', 'identifier', 'account_id', 'name', 'name_sort', 'is_public', 'created_at'],
    [[100, 'top', 7, '', '', 1, 1]],
  )
  await insert(
    db,
    'folders',
    ['id', 'identifier', 'account_id', 'parent_id', 'name', 'name_sort', 'is_public', 'created_at'],
    numbers.map((at) => [100 + at, `folder${at}`, 7, 100, `папка ${at}`, `папка ${at}`, at % 2, at]),
  )
  // Each hangs below the one that came after it, all in one chain.
  await sql`update folders set parent_id = id + 1 where id > 100 and id < ${100 + count}`.execute(db)
  await insert(
    db,
    'blobs',
    ['id', 'key', 'sha256', 'crc32', 'size', 'refs', 'created_at'],
    numbers.map((at) => [at, hex(at), `sha ${at}`, 4_294_967_295, 2 ** 40 + at, 1, at]),
  )
  await insert(
    db,
    'thumbnails',
    ['blob_id', 'state', 'key', 'small', 'large', 'node', 'tries', 'due_at'],
    numbers.map((at) =>
      at % 2 === 0
        ? [at, 'made', hex(10_000 + at), at, 2 * at, null, 1, at]
        : [at, 'wanted', null, 0, 0, 'a node', 2, at],
    ),
  )
  await insert(
    db,
    'files',
    [
      'id',
      'uuid',
      'slug',
      'account_id',
      'folder_id',
      'blob_id',
      'name',
      'name_folded',
      'name_sort',
      'size',
      'type',
      'created_at',
      'last_used_at',
      'removed_at',
      'removal',
    ],
    numbers.map((at) => {
      const removal = at % 3 === 0 ? [at, 'expired'] : [null, null]
      return [
        at * 2,
        `uuid ${at}`,
        `slug ${at}`,
        7,
        100 + at,
        at,
        `Ünï 日本 🚀 ${at}`,
        `ünï 日本 🚀 ${at}`,
        `uni 日本 🚀 2${at}`,
        2 ** 40 + at,
        'a/b',
        at,
        at,
        ...removal,
      ]
    }),
  )
  await insert(
    db,
    'blob_garbage',
    ['key', 'due_at'],
    numbers.map((at) => [hex(at * 3), at]),
  )
  const subjects = numbers.map((at) => [`${['a', 'Z', 'é', '日', '🚀'][at % 5]} ${at}`, at, at, at])
  await insert(db, 'rate_windows', ['subject', 'opened_at', 'ends_at', 'used'], subjects)
  await insert(
    db,
    'request_days',
    ['account_id', 'day', 'requests'],
    numbers.flatMap((at) => [
      [7, `day ${at}`, at],
      [0, `day ${at}`, at],
    ]),
  )
  await insert(
    db,
    'reports',
    ['id', 'file_id', 'slug', 'name', 'sha256', 'reason', 'text', 'created_at', 'reporter'],
    numbers.map((at) => [at, at, `slug ${at}`, 'Ünï', 'sha', 'other', `日本\n${at}`, at, `tag ${at}`]),
  )
  await insert(
    db,
    'bin',
    ['id', 'account_id', 'folder_id', 'bytes', 'files', 'binned_at', 'restoring'],
    numbers.map((at) => [at, 7, 100 + at, 2 ** 40 + at, at, at, at % 2]),
  )
  await insert(
    db,
    'changes',
    ['id', 'account_id', 'kind', 'folder', 'place', 'from_place'],
    numbers.map((at) => [at, 7, 'folder.moved', `folder${at}`, 'root', null]),
  )
  await insert(
    db,
    'days',
    ['day', 'requests', 'bytes_out', 'accounts'],
    numbers.map((at) => [`day ${at}`, at, 2 ** 40 + at, at % 2 === 0 ? at : null]),
  )
  await insert(
    db,
    'refused_contents',
    ['sha256', 'refused_at', 'files', 'cleared'],
    numbers.map((at) => [`sha ${at}`, at, at, at % 2]),
  )
  await insert(
    db,
    'audit_log',
    ['id', 'at', 'account_id', 'username', 'address', 'act', 'object', 'details'],
    numbers.map((at) => [at, at, 7, 'ann', '::1', 'notice.set', null, `{"text":"日本 ${at}"}`]),
  )
  await insert(
    db,
    'mails',
    ['id', 'message_id', 'account_id', 'recipient', 'language', 'letter', 'created_at', 'ends_at', 'due_at'],
    numbers.map((at) => [at, `<${at}@a.b>`, 7, `ann${at}@a.b`, 'de', '{"kind":"ü"}', at, at, at]),
  )
  await insert(
    db,
    'file_warnings',
    ['id', 'token_hash', 'account_id', 'used_after', 'used_until', 'warned_at'],
    numbers.map((at) => [at, hex(at), 7, 0, at, at]),
  )
  await insert(
    db,
    'meta',
    ['key', 'value'],
    [
      ['link_secret', 'the secret'],
      ['own', 'of the source'],
    ],
  )
}

async function insert(
  db: Database,
  table: string,
  columns: string[],
  rows: (string | number | null | undefined)[][],
) {
  for (let at = 0; at < rows.length; at += 400) {
    const values = rows.slice(at, at + 400).map((row) => sql`(${sql.join(row)})`)
    const names = sql.join(columns.map((column) => sql.ref(column)))
    await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(db)
  }
}

async function rowsOf(db: Database, table: string): Promise<object[]> {
  return (await sql<object>`select * from ${sql.table(table)} order by 1, 2`.execute(db)).rows
}

const idle = async () => {}

test.each(ways.filter(({ from }) => from === 'SQLite'))(
  'a NUL, which PostgreSQL does not store, arrives in $to as U+FFFD',
  async ({ openFrom, openTo }) => {
    await using pair = await pairOf(openFrom, openTo, FEW)
    await sql`update api_keys set name = ${'a\0b'} where id = 1`.execute(pair.from)
    await copyRows({ ...pair, ownMeta: [], sameStore: true, onRows: idle })
    expect(await rowsOf(pair.to, 'api_keys')).toContainEqual(
      expect.objectContaining({ id: 1, name: 'a\uFFFDb' }),
    )
  },
)

describe.each(ways)('from $from to $to', ({ openFrom, openTo }) => {
  test('every row arrives as it is', async () => {
    await using pair = await pairOf(openFrom, openTo, MANY)
    const told = { copied: 0, compared: 0 }
    const onRows = async (step: 'copied' | 'compared', count: number) => {
      told[step] += count
    }
    await copyRows({ ...pair, ownMeta: [], sameStore: true, onRows })
    const count = await countRows(pair.from, { sameStore: true })
    expect(told).toEqual({ copied: count, compared: count })
    for (const table of COPIED) {
      const arrived = await rowsOf(pair.to, table)
      const sent = await rowsOf(pair.from, table)
      // Room and claims end with the servers.
      const ended = { accounts: { storage_reserved: 0 }, thumbnails: { node: null } }
      const change = table === 'accounts' || table === 'thumbnails' ? ended[table] : {}
      expect(arrived).toEqual(sent.map((row) => ({ ...row, ...change })))
    }
  })

  test('ids go on where they were, also after the last ones are gone', async () => {
    await using pair = await pairOf(openFrom, openTo, FEW)
    await inTransaction(pair.from, (trx) => setLastId(trx, 'files', 1_000_000))
    await copyRows({ ...pair, ownMeta: [], sameStore: true, onRows: idle })
    for (const table of ['accounts', 'api_keys', 'folders', 'blobs', 'files', 'reports', 'audit_log']) {
      expect(await lastId(pair.to, table)).toBe(await lastId(pair.from, table))
    }
    const { id } = await pair.to
      .insertInto('accounts')
      .values({ username: 'next', name_sort: 'next', created_at: 1 })
      .returning('id')
      .executeTakeFirstOrThrow()
    expect(Number(id)).toBe(((await lastId(pair.from, 'accounts')) ?? 0) + 1)
    expect(await lastId(pair.to, 'files')).toBe(1_000_000)
  })

  test('what was there before gives way, except what each keeps for itself', async () => {
    await using pair = await pairOf(openFrom, openTo, MANY)
    await fill(pair.to, MANY)
    await sql`update files set name = 'stale'`.execute(pair.to)
    await sql`update meta set value = 'of the target' where key in ('own', 'link_secret')`.execute(pair.to)
    await insert(pair.to, 'meta', ['key', 'value'], [['stale', 'row']])
    await copyRows({ ...pair, ownMeta: ['own'], sameStore: false, onRows: idle })
    expect(await rowsOf(pair.to, 'files')).toEqual(await rowsOf(pair.from, 'files'))
    expect(await rowsOf(pair.to, 'blob_garbage')).toEqual([])
    expect(await rowsOf(pair.to, 'thumbnails')).toEqual([])
    const meta = await pair.to
      .selectFrom('meta')
      .selectAll()
      .where('key', '!=', 'version')
      .orderBy('key')
      .execute()
    expect(meta).toEqual([
      { key: 'link_secret', value: 'the secret' },
      { key: 'own', value: 'of the target' },
    ])
  })

  test('the audit log of an interrupted copying is added to, and of another installation refused', async () => {
    await using pair = await pairOf(openFrom, openTo, FEW)
    const copying = { ...pair, ownMeta: [], sameStore: true, onRows: idle }
    await copyRows(copying)
    await sql`insert into audit_log (id, at, act, details) values (1000001, 1, 'notice.cleared', '{}')`.execute(
      pair.from,
    )
    await copyRows(copying)
    expect(await rowsOf(pair.to, 'audit_log')).toEqual(await rowsOf(pair.from, 'audit_log'))
    await sql`insert into audit_log (id, at, act, details) values (1000002, 2, 'notice.cleared', '{}')`.execute(
      pair.to,
    )
    await expect(copyRows(copying)).rejects.toThrow('audit_log')
  })

  test('a row that arrives otherwise than it left is noticed', async () => {
    await using pair = await pairOf(openFrom, openTo, FEW)
    let isSpoiled = false
    const copying = copyRows({
      ...pair,
      ownMeta: [],
      sameStore: true,
      async onRows(step) {
        if (step === 'copied' || isSpoiled) return
        isSpoiled = true
        await sql`update files set slug = 'another' where id = ${FEW * 2}`.execute(pair.to)
      },
    })
    await expect(copying).rejects.toThrow(`the row ${FEW * 2} of files arrived with another slug`)
  })

  test('a folder must have its parent at the target, as everywhere', async () => {
    await using pair = await pairOf(openFrom, openTo, FEW)
    await copyRows({ ...pair, ownMeta: [], sameStore: true, onRows: idle })
    const orphan = pair.to
      .updateTable('folders')
      .set({ parent_id: sql`123456789` })
      .where('name', '=', 'папка 5')
      .execute()
    await expect(orphan).rejects.toThrow()
  })
})

describe.each(both)('%s', (_name, open) => {
  test('holds nothing until somebody puts something in', async () => {
    await using database = await open()
    expect(await holdsNothing(database.db)).toBe(true)
    await insert(
      database.db,
      'accounts',
      ['id', 'username', 'name_sort', 'created_at'],
      [[7, 'ann', 'ann', 1]],
    )
    expect(await holdsNothing(database.db)).toBe(false)
  })
})
