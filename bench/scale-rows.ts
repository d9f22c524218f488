/** Rows of one account with very many files, the same for every database, written straight into its tables. */
import { Database as SqliteFile } from 'bun:sqlite'
import { Client } from 'pg'
import { makeBlobKey, makeFolderIdentifier, makeSlug, makeUuid, type Random } from '../src/domain/random.ts'
import { foldName, sortKey, sortKeyOfFolded } from '../src/domain/sort-key.ts'
import { repeatableRandom } from './content.ts'

type Row = Readonly<Record<string, string | number | null>>

/** Ids of the account, of its top folder, and the first free id of a folder. */
export interface Place {
  readonly account: number
  readonly top: number
  readonly firstFolder: number
}

/** What the questions of the benchmark ask for. */
export interface Facts {
  /** Identifier of the root of the tree. */
  readonly tree: string
  /** The first folder in the tree. */
  readonly branch: { readonly folder: string; readonly parent: string }
  /** A folder with `HEAP` files, whatever the size of the tree. */
  readonly heap: string
  /** Folders with few files, without and with a folder in them. */
  readonly leaves: readonly string[]
  readonly parents: readonly string[]
  /** A folder beside the tree. */
  readonly outside: string
  readonly files: readonly { readonly id: number; readonly uuid: string; readonly slug: string }[]
  /** The whole name of a photo in the middle. */
  readonly photo: string
  /** How many names hold each of `NEEDLES`. */
  readonly hits: Readonly<Record<string, number>>
}

/** Files in one folder at every size. */
export const HEAP = 2500
const LEVELS = 6
const SAMPLES = 400
const DAY = 24 * 60 * 60 * 1000
const FIVE_YEARS = 5 * 365 * DAY

/** Each is in the names of three files: an old one, one in the middle and a new one. */
export const RARE = { word: 'quarzit', three: 'q7z', script: '鯨骨座', two: 'qz', one: '鱗' } as const
/** Words that very many names hold, words without a trigram, and the last one only in the oldest names. */
export const NEEDLES = [
  ...Object.values(RARE),
  ...['img_', '.jpg', 'pdf', 'report', 'отчёт', '2022', 'mp4', 'backup-', 'e', '議', 'jp', '表和', 'telefax'],
]

const WORDS =
  'annual report draft budget meeting holiday beach contract client summary release invoice rechnung stadtwerke bericht urlaub straße facture réunion école château année niño'.split(
    ' ',
  )
const SCRIPTS = [
  'Отчёт за квартал',
  'Договор аренды квартиры',
  '项目计划书最终版',
  '财务报表和预算说明文件',
  '会議議事録と次回の予定',
  '프로젝트 계획서 최종본',
  'تقرير المبيعات السنوي',
]
const DOCUMENTS = ['pdf', 'pdf', 'docx', 'xlsx', 'txt', 'PDF']

/** One file in twenty has the content of the one before it. */
const isCopy = (index: number) => index % 20 === 19

/** `files` in a tree of `files / 10` folders, six levels deep, and one folder beside it. `now`: age 0 of the files. */
export function rowsOf(files: number, place: Place, now: number) {
  const folders = Math.max(10, Math.floor(files / 10))
  const children = folders ** (1 / LEVELS)
  // The last one is the folder beside the tree.
  const parents = Array.from({ length: folders + 1 }, (_, at) =>
    at === 0 || at === folders ? -1 : Math.floor((at - 1) / children),
  )
  const heapAt = Math.floor(folders / 3)
  const sums = parents.map(() => ({ count: 0, files: 0, bytes: 0, folders: 0, height: 0 }))
  const sumAt = (at: number) => sums[at] ?? { count: 0, files: 0, bytes: 0, folders: 0, height: 0 }
  const placing = repeatableRandom(16)
  const folderOf = new Int32Array(files)
  const kinds = new Float64Array(files)
  const sizes = new Float64Array(files)
  for (let at = 0; at < files; at++) {
    const folder = at % Math.ceil(files / HEAP) === 0 ? heapAt : Math.floor(placing() * folders)
    folderOf[at] = folder
    kinds[at] = isCopy(at) ? (kinds[at - 1] ?? 0) : placing()
    sizes[at] = isCopy(at) ? (sizes[at - 1] ?? 0) : Math.floor(10 ** (3.5 + placing() * 4))
    const sum = sumAt(folder)
    sum.count++
    sum.files++
    sum.bytes += sizes[at] ?? 0
  }
  for (let at = folders - 1; at > 0; at--) {
    const [sum, parent] = [sumAt(at), sumAt(parents[at] ?? 0)]
    parent.files += sum.files
    parent.bytes += sum.bytes
    parent.folders += sum.folders + 1
    parent.height = Math.max(parent.height, sum.height + 1)
  }
  const identifiers = parents.map(bytesFrom(12, (bytes) => makeFolderIdentifier(bytes)))
  const createdAt = (at: number) => now - Math.floor(((files - at) / files) * FIVE_YEARS)
  const hits = new Map(NEEDLES.map((needle) => [needle, 0]))
  const sampled: { id: number; uuid: string; slug: string }[] = []
  let photo = ''

  function* folderRows(): Iterable<Row> {
    const random = repeatableRandom(11)
    for (const [at, parent] of parents.entries()) {
      const sum = sumAt(at)
      const name = `${pick(random, WORDS)} ${pick(random, WORDS)} ${at}`
      yield {
        id: place.firstFolder + at,
        identifier: identifiers[at] ?? '',
        account_id: place.account,
        parent_id: parent === -1 ? place.top : place.firstFolder + parent,
        name,
        name_sort: sortKey(name),
        is_public: 1,
        password_hash: null,
        file_count: sum.count,
        tree_files: sum.files,
        tree_bytes: sum.bytes,
        tree_folders: sum.folders,
        tree_height: sum.height,
        created_at: now - FIVE_YEARS,
        deleted_at: null,
        cleared_at: null,
      }
    }
  }

  function* blobRows(): Iterable<Row> {
    const bytes = randomBytes(13)
    for (let at = 0; at < files; at++) {
      if (isCopy(at)) continue
      yield {
        id: at + 1,
        key: makeBlobKey(bytes),
        sha256: Buffer.from(bytes(32)).toString('hex'),
        crc32: at,
        size: sizes[at] ?? 0,
        refs: at + 1 < files && isCopy(at + 1) ? 2 : 1,
        created_at: createdAt(at),
      }
    }
  }

  function* fileRows(): Iterable<Row> {
    const random = repeatableRandom(14)
    const bytes = randomBytes(15)
    for (let at = 0; at < files; at++) {
      const created_at = createdAt(at)
      const { name: plain, type } = fileName(kinds[at] ?? 0, random, created_at)
      const name = marked(plain, at, files)
      const name_folded = foldName(name)
      for (const [needle, count] of hits) if (name_folded.includes(needle)) hits.set(needle, count + 1)
      const file = { id: at + 1, uuid: makeUuid(bytes), slug: makeSlug(bytes) }
      if (at % Math.max(1, Math.floor(files / SAMPLES)) === 0) sampled.push(file)
      if (photo === '' && at > files / 2 && name.startsWith('IMG_')) photo = name
      yield {
        ...file,
        account_id: place.account,
        folder_id: place.firstFolder + (folderOf[at] ?? 0),
        blob_id: isCopy(at) ? at : at + 1,
        name,
        name_folded,
        name_sort: sortKeyOfFolded(name_folded),
        size: sizes[at] ?? 0,
        type,
        created_at,
        last_used_at: now - Math.floor(random() * 10 * DAY),
        views: Math.floor(random() ** 8 * 500),
        downloads: Math.floor(random() ** 8 * 2000),
        removed_at: null,
        removal: null,
      }
    }
  }

  return {
    tables: { folders: folderRows, blobs: blobRows, files: fileRows },
    /** Of the account and of its top folder. */
    totals: {
      files,
      bytes: sumAt(0).bytes,
      folders: folders + 1,
      height: sumAt(0).height + 1,
    },
    /** After all rows were made. */
    facts(): Facts {
      const inTree = parents.map((_, at) => at).slice(1, folders)
      const some = (wanted: (at: number) => boolean) => {
        const all = inTree.filter((at) => at !== heapAt && wanted(at))
        const step = Math.max(1, Math.floor(all.length / SAMPLES))
        return all.filter((_, at) => at % step === 0).map((at) => identifiers[at] ?? '')
      }
      const [tree = '', first = ''] = identifiers
      return {
        tree,
        branch: { folder: first, parent: tree },
        heap: identifiers[heapAt] ?? '',
        leaves: some((at) => sumAt(at).folders === 0 && sumAt(at).count > 4),
        parents: some((at) => sumAt(at).folders > 0),
        outside: identifiers[folders] ?? '',
        files: sampled,
        photo,
        hits: Object.fromEntries(hits),
      }
    },
  }
}

type Rows = ReturnType<typeof rowsOf>

const TABLES = ['folders', 'blobs', 'files'] as const

/** Writes the rows into the SQLite file of a host that has the account; indexes are built at the end. */
export function loadSqlite(path: string, { account, top }: Place, rows: Rows): void {
  const file = new SqliteFile(path, { strict: true })
  try {
    // An incomplete database is discarded.
    for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -1000000'])
      file.run(`PRAGMA ${pragma}`)
    file.transaction(() => {
      const made = file
        .query<{ type: string; name: string; sql: string }, []>(
          `select type, name, sql from sqlite_master where type in ('index', 'trigger') and sql is not null and tbl_name in ('folders', 'blobs', 'files')`,
        )
        .all()
      for (const { type, name } of made) file.run(`drop ${type} ${name}`)
      for (const table of TABLES) {
        for (const batch of batches(rows.tables[table]())) {
          const columns = Object.keys(batch[0] ?? {})
          const marks = columns.map(() => '?').join(', ')
          const insert = file.query(`insert into ${table} (${columns.join(', ')}) values (${marks})`)
          for (const row of batch) insert.run(...Object.values(row))
        }
      }
      for (const { sql } of made) file.run(sql)
      file.run("insert into file_names (file_names) values ('rebuild')")
      for (const [text, values] of totalsOf(account, top, rows)) file.query(text).run(...values)
    })()
    file.run('PRAGMA journal_mode = WAL')
  } finally {
    file.close()
  }
}

/** The same for PostgreSQL, vacuumed and analyzed as autovacuum does some minutes later. */
export async function loadPostgres(url: string, { account, top }: Place, rows: Rows): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'")
    // Indexes that enforce constraints stay.
    const { rows: made } = await client.query<{ name: string; definition: string }>(`
      select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid in ('folders'::regclass, 'blobs'::regclass, 'files'::regclass)
        and not exists (select 1 from pg_constraint where conindid = indexrelid)`)
    for (const { name } of made) await client.query(`drop index ${name}`)
    for (const table of TABLES) {
      for (const batch of batches(rows.tables[table]())) {
        const columns = Object.keys(batch[0] ?? {}).join(', ')
        const given = `select ${columns} from json_populate_recordset(null::${table}, $1)`
        await client.query(`insert into ${table} (${columns}) ${given}`, [JSON.stringify(batch)])
      }
      await client.query(
        `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
      )
    }
    for (const { definition } of made) await client.query(definition)
    for (const [text, values] of totalsOf(account, top, rows)) {
      let count = 0
      const numbered = text.replaceAll('?', () => `$${++count}`)
      await client.query(numbered, values)
    }
    await client.query('vacuum (analyze)')
  } finally {
    await client.end()
  }
}

function* batches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = []
  for (const row of rows) {
    if (batch.push(row) < 5000) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function totalsOf(account: number, top: number, { totals }: Rows): [string, number[]][] {
  const { files, bytes, folders, height } = totals
  return [
    [
      'update accounts set files_count = ?, storage_used = ?, folders_count = ? where id = ?',
      [files, bytes, folders, account],
    ],
    [
      'update folders set tree_files = ?, tree_bytes = ?, tree_folders = ?, tree_height = ? where id = ?',
      [files, bytes, folders, height, top],
    ],
  ]
}

/** As cameras, people and programs name files: 15 to 40 characters in several scripts. */
function fileName(kind: number, random: () => number, time: number): { name: string; type: string } {
  const at = new Date(time).toISOString()
  const date = at.slice(0, 10)
  const compact = `${date.replaceAll('-', '')}_${at.slice(11, 19).replaceAll(':', '')}`
  const some = Math.floor(random() * 1e6)
  if (kind < 0.25) return { name: `IMG_${compact}_${some}.jpg`, type: 'image/jpeg' }
  if (kind < 0.33) return { name: `PXL_${compact}${some}.mp4`, type: 'video/mp4' }
  if (kind < 0.4) return { name: `backup-${date}-${some.toString(16)}.tar.gz`, type: 'application/gzip' }
  const stem = kind < 0.6 ? pick(random, SCRIPTS) : `${pick(random, WORDS)} ${pick(random, WORDS)}`
  return { name: `${stem} ${date.slice(0, 7)} ${some}.${pick(random, DOCUMENTS)}`, type: 'application/pdf' }
}

/** The name with the rare word that its file is found by, if it has one. */
function marked(name: string, at: number, total: number): string {
  if (at < total / 20) return `telefax ${name}`
  const needles = Object.values(RARE)
  for (const share of [0.1, 0.5, 0.9]) {
    const needle = needles[at - Math.floor(total * share)]
    if (needle !== undefined) return `${needle.toUpperCase()} ${name}`
  }
  return name
}

function pick(random: () => number, from: readonly string[]): string {
  return from[Math.floor(random() * from.length)] ?? ''
}

function randomBytes(seed: number): Random {
  const random = repeatableRandom(seed)
  return (length) => Uint8Array.from({ length }, () => random() * 256)
}

function bytesFrom<T>(seed: number, make: (bytes: Random) => T): () => T {
  const bytes = randomBytes(seed)
  return () => make(bytes)
}
